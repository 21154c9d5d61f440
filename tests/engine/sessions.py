"""Short words for tests that drive a real session."""

from __future__ import annotations

import time
from dataclasses import dataclass

from app.engine.cancel import CancelFlag
from app.engine.session import Session
from app.protocol import ChatMessage, Chunk, Done, Generate, Load, Loaded, Sampling, Speculation, Started, Step

GREEDY = Sampling(seed=1, temperature=0.0)
WARM = Sampling(seed=11, temperature=0.8)


@dataclass
class Answer:
    started: Started
    done: Done
    token_ids: list[int]
    text: str
    steps: list[Step]


def load(session: Session, target, draft=None, **how) -> Loaded:
    *_progress, loaded = session.load(
        Load(id=1, target=str(target), draft=str(draft) if draft else None, **{"n_threads": 1} | how), CancelFlag()
    )
    assert isinstance(loaded, Loaded)
    return loaded


def request(prompt, sampling=GREEDY, types=(), k=4, max_tokens=48, **how) -> Generate:
    speculation = Speculation(types=types, draft_tokens=k, **how.pop("speculation", {}))
    if isinstance(prompt, str):
        return Generate(id=2, sampling=sampling, prompt=prompt, speculation=speculation, max_tokens=max_tokens, **how)
    messages = tuple(ChatMessage(role, text) for role, text in prompt)
    return Generate(id=2, sampling=sampling, messages=messages, speculation=speculation, max_tokens=max_tokens, **how)


def answer(session: Session, prompt, *args, cancel_after=None, **how) -> Answer:
    """Answer; raise the cancel flag after so many chunks if asked to."""
    cancel, events = CancelFlag(), []
    for event in session.generate(request(prompt, *args, **how), received_s=time.perf_counter(), cancel=cancel):
        events.append(event)
        if sum(isinstance(e, Chunk) for e in events) == cancel_after:
            cancel.set()
    chunks = [e for e in events if isinstance(e, Chunk)]
    started, done = events[0], events[-1]
    assert isinstance(started, Started)
    assert isinstance(done, Done)
    return Answer(
        started,
        done,
        [t for c in chunks for t in c.token_ids],
        "".join(c.text for c in chunks) + done.text,
        [c.step for c in chunks],
    )
