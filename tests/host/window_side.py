"""A program that does with the host what the window does: load, then answer after answer, until it is ended.

``python window_side.py MODEL [N]``: N answers, then a proper end; without N for ever. Every line on
its standard output is an event.
"""

from __future__ import annotations

import asyncio
import sys

from app.host import ChatRequest, Host, PairChoice
from app.protocol import ChatMessage, Chunk, Speculation

ASK = ChatRequest(
    (ChatMessage("user", "Tell me a long story about a train that rides ahead of another one. " * 4),),
    speculation=Speculation(types=("ngram",), draft_tokens=4),
    max_tokens=300,
)


async def main(model: str, n_answers: int | None) -> None:
    host = Host()
    try:
        await host.load(PairChoice(model, n_threads=1))
        print("loaded", flush=True)
        while n_answers is None or n_answers > 0:
            n_chunks = 0
            async for event in host.answer(ASK):
                n_chunks += isinstance(event, Chunk)
                print(type(event).__name__, flush=True)
                if n_chunks == 5 and n_answers is not None:
                    await host.cancel()
            print("answered", flush=True)
            n_answers = None if n_answers is None else n_answers - 1
    finally:
        await host.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None))
