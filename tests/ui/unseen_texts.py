"""Literals of the window that look like words for people and are left in English, each with its reason."""

from __future__ import annotations

WHOLE_MODULES = {
    "said_chat_texts.py": "see said_texts.py",
    "said_metric_texts.py": "see said_texts.py",
    "said_model_texts.py": "see said_texts.py",
    "said_texts.py": "collected for translation, and found again in the layers below by a test of their own",
    "display.py": "said in the terminal, before there is a Qt to translate with",
    "style.py": "style sheets",
    "crash_report.py": "read by those who mend the program",
}

TEXTS = {
    "aside.py": {"chat database"},  # the name of a thread
    "baselines.py": {"own questions"},  # stored with the baseline, as the name of its prompts
    "chat_actions.py": {"Esc", "F2"},
    "controller.py": {"unhandled {} in a slot"},  # a line of the log
    # offers, by the names that the panel knows
    "standing.py": {"switch off", "record here", "record more", "compare drafts"},
    "local_keys.py": {"Return", "F2", "Del", "Esc", "Left", "Right", "Home", "End"},
    "language.py": {"English"},  # each language is called what its speakers call it
    "last_words.py": {"Slipstream"},
    "main_window.py": {"Slipstream", "{} – Slipstream"},
    "model_words.py": {"Slipstream", "set HF_TOKEN or run: hf auth login"},  # what is looked for in a text of the hub's
    "notify_control.py": {"Slipstream"},
    "pair_card.py": {"does not fit"},  # a verdict, by its name
    "palette.py": {"F1"},
    "parting.py": {"Slipstream"},
    "question.py": {"Slipstream"},
    "recording.py": {"the recording was interrupted", "a warm-up"},  # stored with the run and exported
    "reveal.py": {'explorer /select,"{}"', "-R"},
    "about.py": {"Slipstream {}"},
    "settings_control.py": {"This"},  # the subject of an error's sentence, which is English
    "token_colours.py": {"underline; font-style: italic"},
    "updates.py": {"Slipstream"},
    "work_dialog.py": {"Slipstream"},
}
