"""How long the first results of a search take, over many messages.

Texts are made of words as frequent as in speech (Zipf's law), English and Chinese, a code block now and then. Every
second answer was thought over in twice as many words, and every tenth question comes with a file, one in a hundred with
one of 300 kB. Queries are of each kind: rare, common and very common words, parts of words, several, phrases,
beginnings, two characters, one, words that are in thoughts or files only, and words that are nowhere. A search is what
the window does for a letter typed: the first page of the conversations in which it is found, with a snippet of each.
The pages behind it, up to 500, come one by one while the window goes on; the longest of them is measured, too, and so
is the first page of messages of ``chats search``.

    python -m tests.benchmarks.chat_search [--turns N] [--messages N] [--json]
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from app.chat.conversation import Attachment, Message, now
from app.chat.store import ChatStore
from app.ui.listing import MOST_FOUND, PAGE
from tests.benchmarks.figures import Figure, arguments, end_by_targets, report

TARGET_S = 0.1
QUERIES = {
    "rare word": "zeppelin",
    "common word": "stream",
    "very common word": "the",
    "part of a word": "treamin",
    "three words": "the stream lambda",
    "phrase": '"of the"',
    "beginning": "stre*",
    "beginning, only inside": "tream*",
    "letter at the beginning": "s*",
    "two letters": "of",
    "two letters, rare": "zq",
    "one letter": "e",
    "Chinese word": "速度",
    "Chinese word, rare": "鬱金",
    "nowhere": "qqqqzzzz",
    "two that never meet": "zeppelin tulip",
    "only in thoughts": "marmalade",
    "only in files": "gramophone",
    "in thoughts and in files": "thunder*",
    "a thought and what was said": "marmalade the",
    "a line of a file": '"return gramophone"',
}
MAY_FIND_NOTHING = {"nowhere", "beginning, only inside", "two that never meet", "two letters, rare"}

_COMMON = """
    the of and to a in is it you that he was for on are with as his they be at one have this from or had by hot but
    some what there we can out other were all your when up use word how said an each she which do their time if will
    way about many then them would write like so these her long make thing see him two has look more day could go
    come did my sound no most number who over know water than call first people may down side been now find any new
    work part take get place made live where after back little only round man year came show every good me give our
    stream streaming token draft model speed verify batch context memory window thread lambda
"""
_CHINESE = ["速度很快", "模型", "我们可以看到", "这个问题", "上下文长度", "推测解码", "生成的文本", "在手机上"]


def messages(n_messages: int, seed: int) -> Iterator[Message]:
    """Yield questions and answers of about 120 words, with their thoughts and files."""
    draw = random.Random(seed)
    invented = ["".join(draw.choices("etaoinshrdlucmfwypvbgkjqxz", k=draw.randint(3, 11))) for _ in range(20_000)]
    words = _COMMON.split() + invented
    weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(words))))

    def some(least: int, most: int) -> list[str]:
        return draw.choices(words, cum_weights=weights, k=draw.randint(least, most))

    for n in range(n_messages):
        said, thought, files = some(5, 235), list[str](), tuple[Attachment, ...]()
        if n % 4 == 1:
            thought = some(10, 470)
            if n % 4000 == 1:
                thought.append("marmalade in a thunderstorm")
        if n % 20 == 0:
            file = some(50, 1500) if n % 200 else some(50_000, 60_000)
            file[len(file) // 2 : len(file) // 2] = ["def f(x):\n\treturn"]
            if n % 6000 == 20:
                file.append('\n    return gramophone  # "thunder" and \\ more')
            files = (Attachment(name=f"part_{n}.py", text=" ".join(file)),)
        if n % 7 == 0:
            said[len(said) // 2 : len(said) // 2] = draw.choices(_CHINESE, k=5)
        if n % 11 == 0:
            said.append("\n\n```python\ndef f(x):\n    return x\n```\n")
        if n % 5003 == 17:
            said.append("a zeppelin above the clouds")
        if n % 7001 == 19:
            said.append("a tulip, 鬱金香")
        yield Message(
            role="assistant" if n % 2 else "user",
            text=" ".join(said),
            reasoning=" ".join(thought),
            attachments=files,
            created_at=now(),
        )


def fill(path: Path, n_messages: int, seed: int = 7) -> None:
    """Write conversations of 50 messages each."""
    with closing(ChatStore(path)) as store, store._db.writing():
        conversation_id = 0
        for n, message in enumerate(messages(n_messages, seed)):
            if n % 50 == 0:
                conversation_id = store.create(f"Conversation {n // 50}").id
            store.add(conversation_id, message)


@dataclass(frozen=True, slots=True)
class Search:
    """Seconds of the first page of conversations, of the longest page behind it, of the messages; what was found."""

    first_s: float
    longest_s: float
    messages_s: float
    n_found: int


def measure(store: ChatStore, query: str) -> Search:
    """Search once, as the window does, and as the command does."""
    seconds, page, n_found = [], None, 0
    while page is None or (page.next_id is not None and n_found < MOST_FOUND):
        started_s = time.perf_counter()
        page = store.heads_page(query, PAGE, page)
        seconds.append(time.perf_counter() - started_s)
        n_found += len(page.heads)
    started_s = time.perf_counter()
    n_messages = len(store.search(query))
    return Search(seconds[0], max(seconds), time.perf_counter() - started_s, n_messages)


def figures(path: Path, n_turns: int) -> list[Figure]:
    """Measure every query, in turns; the first search after opening by itself."""
    seconds: dict[str, list[float]] = {name: [] for name in QUERIES}
    later: dict[str, list[float]] = {name: [] for name in QUERIES}
    of_messages: dict[str, list[float]] = {name: [] for name in QUERIES}
    first: list[float] = []
    found: dict[str, int] = {}
    for _ in range(n_turns):
        with closing(ChatStore(path)) as store:
            store.check.wait(None)
            first.append(measure(store, "stream").first_s)
            for name, query in QUERIES.items():
                search = measure(store, query)
                found[name] = search.n_found
                seconds[name].append(search.first_s)
                later[name].append(search.longest_s)
                of_messages[name].append(search.messages_s)
    if missing := [name for name, n in found.items() if not n and name not in MAY_FIND_NOTHING]:
        raise SystemExit(f"nothing was found for {missing}: the texts are not what they should be")
    target = f"<= {1000 * TARGET_S:g}"
    return [
        Figure("first search after opening", tuple(1000 * s for s in first), "ms", target),
        *(Figure(name, tuple(1000 * s for s in values), "ms", target) for name, values in seconds.items()),
        Figure("worst", _worst(first, *seconds.values()), "ms", target),
        Figure("longest page behind the first", _worst(*later.values()), "ms", target),
        Figure("first page of messages", _worst(*of_messages.values()), "ms", target),
    ]


def _worst(*series: list[float]) -> tuple[float, ...]:
    """Return the longest of each turn, in milliseconds."""
    return tuple(1000 * max(turn) for turn in zip(*series, strict=True))


def main() -> None:
    """Measure and report."""
    parser = arguments(__doc__ or "", n_turns=7)
    parser.add_argument("--messages", type=int, default=100_000, help="messages in the database (default: %(default)s)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chats.db"
        fill(path, chosen.messages)
        found = figures(path, chosen.turns)
    report(found, as_json=chosen.json)
    end_by_targets(found)


if __name__ == "__main__":
    main()
