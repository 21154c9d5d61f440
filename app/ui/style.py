"""The one style sheet: rules for our own widgets, by their names; everything else is the platform's style."""

from __future__ import annotations

from app.ui.theme import Colours

_RULES = """
QLabel#muted, QLabel#status, QLabel#caption, QLabel#state, QLabel#nothing { color: %(muted)s; }
QLabel#error { color: %(danger)s; }
QLabel#fault { color: %(danger)s; }
QLabel#nothing { padding: 12px; }
QLabel#device { color: %(muted)s; border: 1px solid %(border)s; border-radius: 8px; padding: 1px 8px; }
QSplitter::handle { background: %(border)s; }

QFrame#question { background: %(raised)s; border-radius: 10px; }
QFrame#code { background: %(base)s; border: 1px solid %(border)s; border-radius: 6px; }
QFrame#code[edge="first"] { border-bottom: none; border-bottom-left-radius: 0; border-bottom-right-radius: 0; }
QFrame#code[edge="middle"] { border-top: none; border-bottom: none; border-radius: 0; }
QFrame#code[edge="last"] { border-top: none; border-top-left-radius: 0; border-top-right-radius: 0; }
QToolButton#thought { color: %(muted)s; padding: 2px 6px; }
QFrame#chip { background: %(raised)s; border-radius: 8px; }
QFrame#find { background: %(base)s; border-bottom: 1px solid %(border)s; }
QFrame#mark { border: 1px solid %(warning)s; border-radius: 6px; }

QFrame#composer { background: %(base)s; border: 1px solid %(border)s; border-radius: 12px; }
QFrame#composer[active="true"] { border-color: %(accent)s; }
QPushButton#send { background: %(accent)s; border: none; border-radius: 8px; }
QPushButton#send:disabled { background: %(raised)s; }
QPushButton#send:focus { border: 2px solid %(text)s; }

QFrame#options { background: %(window)s; border: 1px solid %(border)s; }

QFrame#notice { background: %(base)s; border: 1px solid %(accent)s; border-radius: 8px; }
QFrame#notice[kind="warning"] { border-color: %(warning)s; }
QFrame#notice[kind="error"] { border-color: %(danger)s; }

QPushButton#example { text-align: left; padding: 10px 14px; color: %(text)s; background: %(base)s;
                      border: 1px solid %(border)s; border-radius: 8px; }
QPushButton#example:hover, QPushButton#example:focus { border-color: %(accent)s; }
"""


def style_sheet(scheme: Colours) -> str:
    """Return the style sheet of a scheme."""
    return _RULES % scheme._asdict()
