"""The sentences of :mod:`app.ui.said_texts` that the measurements say: conditions, what went on meanwhile, causes."""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP

_CONDITIONS = (
    QT_TRANSLATE_NOOP("", "it is of another target file ({file}, not {other})"),
    QT_TRANSLATE_NOOP("", "it is of another file of the name {file}, with other contents"),
    QT_TRANSLATE_NOOP("", "the contents of {file} could not be read, so it may be another file"),
    QT_TRANSLATE_NOOP("", "its quantisation is {one}, not {other}"),
    QT_TRANSLATE_NOOP("", "it ran on {device}, not on {other}"),
    QT_TRANSLATE_NOOP("", "it ran with {n_threads} threads, not with {other}"),
    QT_TRANSLATE_NOOP("", "its conversation memory was {one}, not {other}"),
    QT_TRANSLATE_NOOP("", "it ran on llama.cpp {commit}, not on {other}"),
    QT_TRANSLATE_NOOP("", "it ran with {version}, not with {other}"),
    QT_TRANSLATE_NOOP("", "an older Slipstream"),
    QT_TRANSLATE_NOOP("", "one is sampled, the other greedy (temperature 0)"),
    QT_TRANSLATE_NOOP("", "its sampler was {one}, not {other}"),
    QT_TRANSLATE_NOOP("", "its answers end within {n_tokens} tokens of context, not within {other}"),
    QT_TRANSLATE_NOOP("", "it ran on battery, not on mains power"),
    QT_TRANSLATE_NOOP("", "it ran on mains power, not on battery"),
    QT_TRANSLATE_NOOP("", "the power mode was {one}, not {other}"),
)
_NO_RATIOS = (
    QT_TRANSLATE_NOOP("", "lossy answers are not the same text"),
    QT_TRANSLATE_NOOP("", "the targets differ"),
    QT_TRANSLATE_NOOP("", "only one of them answered this way"),
    QT_TRANSLATE_NOOP("", "these are the same answers of one session"),
    QT_TRANSLATE_NOOP("", "fewer than six prompts were answered in both"),
    QT_TRANSLATE_NOOP("", "fewer than six prompts were answered in both (own prompts are left out)"),
)
_MEANWHILE = (
    QT_TRANSLATE_NOOP("", "the computer slept for {seconds} s meanwhile"),
    QT_TRANSLATE_NOOP("", "the computer's clock was set by {seconds} s meanwhile"),
    QT_TRANSLATE_NOOP("", "the engine's clock ran backwards"),
    QT_TRANSLATE_NOOP("", "the context was full in mid-answer, and the oldest turns left it"),
    QT_TRANSLATE_NOOP("", "the power supply changed from mains to battery meanwhile"),
    QT_TRANSLATE_NOOP("", "the power supply changed from battery to mains meanwhile"),
    QT_TRANSLATE_NOOP("", "the power mode changed from {one} to {other} meanwhile"),
    QT_TRANSLATE_NOOP("", "other programs kept {share} of the processor busy"),
    QT_TRANSLATE_NOOP("", "the power supply changed to {supply}"),
    QT_TRANSLATE_NOOP("", "battery"),
    QT_TRANSLATE_NOOP("", "mains"),
    QT_TRANSLATE_NOOP("", "on battery"),
    QT_TRANSLATE_NOOP("", "the power mode changed from {one} to {other}"),
    QT_TRANSLATE_NOOP("", "power mode: {mode}"),
    QT_TRANSLATE_NOOP("", "the processor was at {degrees} °C"),
    QT_TRANSLATE_NOOP("", "the processor ran at {share} of its highest clock"),
)
_CAUSES = (
    QT_TRANSLATE_NOOP(
        "",
        "memory paging: {n} page faults waited for the disk, the engine's process had {resident} GB in memory for "
        "weights of {weights} GB",
    ),
    QT_TRANSLATE_NOOP("", "memory paging: {n} page faults waited for the disk"),
    QT_TRANSLATE_NOOP(
        "",
        "memory paging: the engine's process had only {resident} GB in memory for weights of {weights} GB, {n} page "
        "faults brought back the rest",
    ),
    QT_TRANSLATE_NOOP("", "bus shared: passes after drafting took {ratio} × the same passes without it"),
    QT_TRANSLATE_NOOP(
        "",
        "bus shared: in answers with a drafter a pass took {verify} × and a drafted token {draft} × what each took "
        "alone",
    ),
    QT_TRANSLATE_NOOP("", "not to be told from the steps"),
    QT_TRANSLATE_NOOP("", "target compute-bound: {n_rows} rows cost {ratio} times one row"),
    QT_TRANSLATE_NOOP("", "draft too dear: a drafted token costs {ratio} of a plain pass"),
    QT_TRANSLATE_NOOP("", "drafts shorter than asked ({mean} of {asked} on average)"),
    QT_TRANSLATE_NOOP("", "drafts shorter than asked ({mean} of {asked} on average, none in {share} of the steps)"),
    QT_TRANSLATE_NOOP("", "prompt unlike the sample (alpha {own} here, {all} over all prompts)"),
    QT_TRANSLATE_NOOP("", "more or fewer tokens kept than alpha says"),
    QT_TRANSLATE_NOOP("", "acceptance falls with position (alpha {first} at 1, {last} at {n})"),
    QT_TRANSLATE_NOOP("", "acceptance rises with position (alpha {first} at 1, {last} at {n})"),
    QT_TRANSLATE_NOOP("", "{machine} than for the plain answers (one row cost {ratio} × one row there)"),
    QT_TRANSLATE_NOOP("", "faster machine"),
    QT_TRANSLATE_NOOP("", "slower machine"),
    QT_TRANSLATE_NOOP("", "{what} at {n_rows} rows ({here} × one row here)"),
    QT_TRANSLATE_NOOP("", "{what} at {n_rows} rows ({here} × one row here, {curve} × on the cost curve)"),
    QT_TRANSLATE_NOOP("", "target compute-bound"),
    QT_TRANSLATE_NOOP("", "target less compute-bound than on the cost curve"),
    QT_TRANSLATE_NOOP("", "{what} (a drafted token costs {here} of a plain pass here, {curve} on the cost curve)"),
    QT_TRANSLATE_NOOP("", "draft cheaper than on the cost curve"),
    QT_TRANSLATE_NOOP("", "draft too dear"),
)
_PROFILE = (
    QT_TRANSLATE_NOOP("", "Looking which drafters fit…"),
    QT_TRANSLATE_NOOP("", "warming up: {draft}"),
    QT_TRANSLATE_NOOP("", "no draft model"),
    QT_TRANSLATE_NOOP("", "round {n} of {n_rounds}: {prompt}, {way}"),
    QT_TRANSLATE_NOOP("", "measured again: {prompt}, {way}"),
    QT_TRANSLATE_NOOP("", "n-gram, length {n}"),
    QT_TRANSLATE_NOOP("", "draft model {draft}, length {n}"),
    QT_TRANSLATE_NOOP("", "MTP heads {draft}, length {n}"),
    QT_TRANSLATE_NOOP("", "MTP heads, length {n}"),
    QT_TRANSLATE_NOOP("", "pays {middle}× ({band})"),
    QT_TRANSLATE_NOOP("", "costs {middle} ({least}–{most})"),
    QT_TRANSLATE_NOOP("", "cannot tell yet ({more} needed)"),
    QT_TRANSLATE_NOOP("", "cannot tell: {band}× ({more})"),
    QT_TRANSLATE_NOOP("", "{low} to over 10"),
    QT_TRANSLATE_NOOP("", "about {more} needed"),
    QT_TRANSLATE_NOOP("", "over {more} needed"),
    QT_TRANSLATE_NOOP("", "{n} more pair"),
    QT_TRANSLATE_NOOP("", "{n} more pairs"),
    QT_TRANSLATE_NOOP("", "Nothing could be tried: no drafter fits this target."),
    QT_TRANSLATE_NOOP("", "Use {way}: {sentence}; measured again after the choice: {again}."),
    QT_TRANSLATE_NOOP("", "Use {way}: {sentence}."),
    QT_TRANSLATE_NOOP("", "Leave speculation off: every way that was tried makes answers slower."),
    QT_TRANSLATE_NOOP("", "Nothing can be said: no answer could be compared."),
    QT_TRANSLATE_NOOP(
        "",
        "Nothing was faster than plain decoding so far; the best, {way}: {sentence}. Leave speculation off unless more "
        "rounds say otherwise.",
    ),
    QT_TRANSLATE_NOOP("", "Not decided; ahead is {way}: {sentence}. More rounds or prompts would tell."),
    QT_TRANSLATE_NOOP(
        "",
        "{way} has an acceptance of {share}, below {least}. Try a larger draft model of the target's family, or tune "
        "this one on your own prompts: the training data for that can be exported.",
    ),
    QT_TRANSLATE_NOOP("", "No draft model fits. A small model with the target's vocabulary may save more than n-gram."),
    QT_TRANSLATE_NOOP("", "The plain answers beside a draft model's had it in memory, with nothing fed to it."),
    QT_TRANSLATE_NOOP("", "The target's MTP heads were in memory during the plain answers, with nothing fed to them."),
    QT_TRANSLATE_NOOP("", "{name} was not tried: {reason}"),
)
_BASELINES = (
    QT_TRANSLATE_NOOP("", "A baseline needs {n_runs} complete answers of like context length; {found}."),
    QT_TRANSLATE_NOOP("", "there are {n}"),
    QT_TRANSLATE_NOOP("", "by tokens of context there are {counts}"),
    QT_TRANSLATE_NOOP("", "Record more prompts, or more repetitions, with longer answers."),
)

METRICS = (*_PROFILE, *_BASELINES, *_CONDITIONS, *_NO_RATIOS, *_MEANWHILE, *_CAUSES)
