"""Answers that mean harm, or come from a model that has lost its way; made when asked for, some are large."""

from __future__ import annotations

from collections.abc import Callable

HOSTILE: dict[str, Callable[[], str]] = {
    "a line of 10 MB": lambda: "x" * 10_000_000,
    "words of 10 MB in a line": lambda: "word " * 2_000_000,
    "code of 10 MB in a line": lambda: "```js\n" + "var a=1;" * 1_250_000 + "\n```\n",
    "100,000 nested quotes": lambda: ">" * 100_000 + " deep",
    "100,000 nested quotes, spaced": lambda: "> " * 100_000 + "deep",
    "nested lists": lambda: "- " * 50_000 + "deep",
    "indented lists": lambda: "".join(" " * (2 * n) + "- x\n" for n in range(400)),
    "unclosed fences": lambda: "```\n" + "~~~\n````x\n" * 20_000,
    "fences without end": lambda: "```py\nx\n```\n" * 5_000,
    "control characters": lambda: "".join(map(chr, range(32))) * 2_000,
    "right-to-left overrides": lambda: "\u202eabc\u2066def\u2069 " * 10_000,
    "ANSI codes": lambda: "\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 " * 5_000,
    "links to files and shares": lambda: "[a](file:///etc/passwd) [b](//host/share) [c](\\\\host\\share) " * 2_000,
    "images": lambda: "![x](file:///etc/passwd) ![y](//host/share/x.png) ![z](http://127.0.0.1:9/z.png)\n\n" * 1_000,
    "open brackets": lambda: "[" * 50_000,
    "open brackets and parentheses": lambda: "[a](" * 20_000,
    "open formulas": lambda: "\\[" * 20_000 + "\\(" * 20_000 + "$" * 20_001,
    "formulas in a line": lambda: "$x$ \\(y\\) $$z$$ \\[w\\] " * 5_000,
    "large formulas, all alike": lambda: "$\\rule{67em}{67em}$ " * 250,
    "large formulas": lambda: "".join(f"$\\rule{{67em}}{{{67 - n / 100}em}}$ " for n in range(250)),
    "formulas of nothing": lambda: "$$ $$ \\[\\] \\(\\) $ $" * 5_000,
    "stars": lambda: "*a **a " * 20_000,
    "backticks": lambda: "".join("`" * n + " " for n in range(1, 300)),
    "a wide table": lambda: "|" + "a|" * 2_000 + "\n|" + "-|" * 2_000 + "\n" + ("|" + "b|" * 2_000 + "\n") * 20,
    "a long table": lambda: "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 20_000,
    "entities": lambda: "&amp;&#x202e;&#0; &#x2061;x&#x2062; " * 10_000,
    "html": lambda: "<div><script>alert(1)</script><img src='file:///etc/passwd'>" * 5_000,
    "combining marks": lambda: "a" + "\u0301" * 50_000,
    "100,000 lines": lambda: "x\n" * 100_000,
    "100,000 paragraphs": lambda: "x\n\n" * 100_000,
    "thoughts that never end": lambda: "<think>" * 10_000 + "why " * 50_000,
}
