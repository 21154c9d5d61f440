"""Which string literals of a module of the window people see, told from its syntax tree alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


TRANSLATES = frozenset({"tr"})

UNSEEN_CALLS = _names(
    "AssertionError ChatMessage KeyError Literal LookupError Message NewType Path QByteArray QKeySequence"
    " QRegularExpression QSettings RuntimeError Signal TypeError TypeVar ValueError beside cast compile connect"
    " contains count critical debug decode encode endswith environ error exception find findChild findChildren findall"
    " finditer fullmatch getLogger hasattr icon import_module index info isinstance log match open partition property"
    " removeprefix removesuffix resource rfind rpartition rsplit run_in_executor save search setApplicationName"
    " setDefaultSuffix setDesktopFileName setObjectName setOrganizationName setProperty setStyleSheet setValue setattr"
    " split startswith strftime sub subn value warning with_name with_suffix write"
)
"""What is given to these is a name, a pattern, a file or a line of the log."""

LOOK_UPS = _names("get getattr pop setdefault")
"""Their first argument is a key; the second, in place of what is missing, may be read."""

SEEN_CALLS = _names(
    "Fact ModelOption QAction QCheckBox QGroupBox QLabel QPushButton QRadioButton QToolButton addItem addRow addTab"
    " setAccessibleDescription setAccessibleName setDetailedText setHeaderLabels setInformativeText setLabelText"
    " setPlaceholderText setPrefix setSpecialValueText setStatusTip setSuffix setText setTitle setToolTip setWhatsThis"
    " setWindowTitle show_mark show_status"
)
"""Even one lower-case word is read when it is given to these."""

SEEN_ARGUMENTS = _names("also placeholderText")
"""Named arguments that are read."""

KEYS = re.compile(r"((Ctrl|Alt|Shift|Meta)\+)*(Ctrl|Alt|Shift|Meta|Esc(ape)?|Return|Enter|F\d+|[A-Z]|[,.+=-]|\w+)")
CODE = re.compile(
    r"[A-Z]{1,4}|[A-Z]\w*[a-z][A-Z]\w*|[A-Z_]{4,}|[\w.]*\w\.\w[\w.]*|[^{}]*\{[^{}]*:[^{}]*;[^{}]*\}.*", re.DOTALL
)
"""A sign, a class, a variable of the environment, a dotted name, a style sheet."""


@dataclass(frozen=True)
class Literal:
    """A literal of a module; ``text`` has ``{}`` where an f-string has a value."""

    line: int
    text: str
    node: ast.Constant | ast.JoinedStr


def text_of(node: ast.expr) -> str | None:
    """Return the text of a literal, None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return None


def literals_seen(source: str) -> Iterator[Literal]:
    """Yield the literals that people see and that no translator gets to see."""
    tree = ast.parse(source)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        text = text_of(node) if isinstance(node, ast.Constant | ast.JoinedStr) else None
        if text is not None and _is_read(text, node, parents):
            yield Literal(node.lineno, text, node)


def _is_read(text: str, node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    words = re.sub(r"<[^>]*>|&\w+;|https?://\S+", "", text.replace("{}", "")).strip(" \n")
    if re.search(r"[^\W\d_]", words) is None or CODE.fullmatch(text) or ("+" in text and KEYS.fullmatch(text)):
        return False
    place = _place(node, parents)
    is_sentence = " " in text.strip() or "\n" in text.strip() or re.match(r"\W*[A-Z]", text) is not None
    return place is not None and (is_sentence or place in SEEN_CALLS | SEEN_ARGUMENTS)


def _place(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str | None:
    """Return the call or the argument that a literal goes into, "" if there is none, None where nobody reads it."""
    inner, outer = node, parents[node]
    if isinstance(outer, ast.Expr) or (isinstance(outer, ast.JoinedStr) and isinstance(node, ast.Constant)):
        return None  # a docstring, or the fixed part of an f-string that is looked at as a whole
    while not isinstance(outer, ast.stmt):
        if _hides(outer, inner):
            return None
        if isinstance(outer, ast.keyword) and outer.arg in SEEN_ARGUMENTS:
            return outer.arg
        if isinstance(outer, ast.Call) and inner is not outer.func:
            name = _last_name(outer.func)
            is_key = name in LOOK_UPS and inner is outer.args[0]
            return None if is_key or name in TRANSLATES | UNSEEN_CALLS else name
        inner, outer = outer, parents[outer]
    return None if _is_note(outer, inner) else ""


def _hides(outer: ast.AST, inner: ast.AST) -> bool:
    """Whether a part of an expression only compares, looks up or names what is inside it."""
    match outer:
        case ast.Compare() | ast.MatchValue() | ast.Set() | ast.arg():
            return True
        case ast.FormattedValue():
            return outer.format_spec is inner
        case ast.Subscript():
            return outer.slice is inner
        case ast.Dict():
            return inner in outer.keys
    return False


def _is_note(outer: ast.AST, inner: ast.AST) -> bool:
    """Whether a statement holds an annotation or a list of names there."""
    match outer:
        case ast.AnnAssign():
            return inner is outer.annotation
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return inner is outer.returns
    return False


def _last_name(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
