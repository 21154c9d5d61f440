"""Real llama.cpp, interrupted at any moment: what an answer says is what a fresh, plain session says.

A conversation goes on over many answers, each drafted by some drafters in some order and length, sampled somehow, with
penalties, stop strings and grammars, and left at some moment: by its end, by the flag before it begins, by the flag
after some step, by the flag from another thread in mid-decode, or by closing. Between the answers the text is edited
anywhere, so the memories must be rewound to anywhere.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter

import msgspec
import pytest

from app.engine.cancel import CancelFlag
from app.engine.session import Session
from app.engine.template import Renderer
from app.errors import PromptTooLongError
from app.protocol import Chunk, Done, Generate, Sampling, Speculation
from tests.engine.sessions import load, request
from tests.fixtures import tiny, tiny_mla, tiny_mtp

WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "then", "went", "to", "some", "milk", '{"a":', "1}", "2", "3")
GRAMMARS = ("", "", "", "root ::= [a-z ]+", 'root ::= "{" [a-z0-9 :",]* "}"', 'root ::= ("yes" | "no") [ .]*')
WAYS = ("to its end", "to its end", "flag first", "flag after a step", "flag in between", "closed")
KINDS = {
    "draft model": lambda folder: tiny.llama_pair(folder),
    "token trees": lambda folder: tiny.llama_pair(folder),
    "heads in a hybrid": lambda folder: (tiny_mtp.qwen35_embedded(folder / "tiny.gguf"), None),
    "heads in a file": lambda folder: tiny_mtp.qwen35_pair(folder),
    "chain of heads": lambda folder: (tiny_mtp.hy_v3_chain(folder / "tiny.gguf"), None),
    "assistant": lambda folder: tiny_mtp.gemma4_pair(folder),
    "latent attention": lambda folder: (tiny_mla.mla(folder / "tiny.gguf"), None),
}


def some_text(rng, n):
    return " ".join(rng.choice(WORDS) for _ in range(n))


def some_request(rng, conversation, drafters) -> Generate:
    sampling = Sampling(
        rng.randrange(1000),
        temperature=rng.choice([0.0, 0.0, 0.8, 1.0]),
        top_k=rng.choice([0, 5, 40]),
        repeat_penalty=rng.choice([1.0, 1.2]),
        frequency_penalty=rng.choice([0.0, 0.3]),
        penalty_last_n=rng.choice([0, 16, 64]),
        grammar=rng.choice(GRAMMARS),
    )
    k = rng.choice([0, 1, 2, 4, 8, 31, "auto", "auto", "rolling"])
    prompt, slide = conversation, False
    if rng.random() < 0.3:
        prompt, slide = [("user", some_text(rng, 3))], rng.random() < 0.6
        for _ in range(rng.randint(0, 4)):
            prompt += [("assistant", some_text(rng, 4)), ("user", some_text(rng, 3))]
    return request(
        prompt,
        sampling,
        types=tuple(rng.sample(drafters, rng.randint(0, len(drafters)))),
        k=k,
        max_tokens=rng.choice([1, 2, 7, 30, 60]),
        stop=rng.choice([(), (), ("the",), (" ",), ("at", "e m", "\n")]),
        token_details=rng.random() < 0.2,
        slide=slide,
        speculation={"draft_min": rng.choice([0, 1]) if k else 0, "p_min": rng.choice([0.0, 0.0, 0.5])},
    )


def answered(session, command, way="to its end", n_steps=0, delay_s=0.0, steps=None):
    """Return tokens, text and how it ended: a stop reason, "closed" or "too long"; add the steps to a list."""
    flag, token_ids, text, n_chunks = CancelFlag(), [], "", 0
    timer = threading.Timer(delay_s, flag.set)
    if way == "flag first":
        flag.set()
    if way == "flag in between":
        timer.start()
    events = session.generate(command, received_s=time.perf_counter(), cancel=flag)
    try:
        for event in events:
            if isinstance(event, Chunk):
                token_ids += event.token_ids
                if steps is not None:
                    steps.append(event.step)
                n_chunks += 1
            if isinstance(event, Done):
                assert not [notice for notice in event.notices if notice.code == "drafter_failed"]
                return token_ids, text + event.text, event.stop_reason
            text += getattr(event, "text", "")
            if n_chunks >= n_steps and way == "flag after a step":
                flag.set()
            if n_chunks >= n_steps and way == "closed":
                events.close()
                return token_ids, text, "closed"
    except PromptTooLongError:
        return token_ids, text, "too long"
    finally:
        timer.cancel()
        if timer.ident is not None:
            timer.join()
    raise AssertionError("an answer has an end")


@pytest.mark.parametrize("n_answers", [pytest.param(60), pytest.param(1500, marks=pytest.mark.full)])
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_interrupts_answers_the_next_is_as_from_a_fresh_session(kind, n_answers, tmp_path):
    rng = random.Random(f"{kind} {n_answers}")
    target, draft = KINDS[kind](tmp_path)
    session, plain = Session(Renderer()), Session(Renderer())
    try:
        n_ctx = rng.choice([96, 256])
        drafters = load(session, target, draft, n_ctx=n_ctx, trees=kind == "token trees").drafters
        assert ("tree" in drafters) == (kind == "token trees")
        load(plain, target, n_ctx=n_ctx)
        conversation, ends = some_text(rng, 8), Counter()
        for n in range(n_answers):
            command = some_request(rng, conversation, drafters)
            way, n_steps, delay_s = rng.choice(WAYS), rng.randint(0, 12), rng.expovariate(30)
            token_ids, text, end = answered(session, command, way, n_steps, delay_s)
            alone = msgspec.structs.replace(command, speculation=Speculation(), reuse_memory=False)
            expected_ids, expected_text, expected_end = answered(plain, alone)
            where = f"answer {n}, {way}, {command}"
            if end in ("cancelled", "closed"):
                assert token_ids == expected_ids[: len(token_ids)], where
                text = text.rstrip("�")  # the last character may have been cut
                begun = [i for stop in command.stop for i in range(1, len(stop)) if text.endswith(stop[:i])]
                assert any(expected_text.startswith(text[: len(text) - i]) for i in (0, *begun)), where
            else:
                assert (token_ids, text, end) == (expected_ids, expected_text, expected_end), where
            ends[end] += 1
            conversation = edited(rng, conversation, text)
    finally:
        session.close()
        plain.close()
    assert min(ends["cancelled"], ends["closed"], ends["length"]) > 0, ends


def edited(rng, conversation, answer):
    choice = rng.random()
    if choice < 0.35:
        conversation = (conversation + answer)[-300:] or "x"
    elif choice < 0.6:
        at = rng.randrange(len(conversation) + 1)
        conversation = conversation[:at] + some_text(rng, 2) + conversation[at:]
    elif choice < 0.8:
        conversation = some_text(rng, rng.randint(1, 12))
    return conversation[: rng.randint(20, 200)] if len(conversation) > 400 else conversation
