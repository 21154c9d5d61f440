"""What can be done with speed, models and view, for the window's list of actions."""

from __future__ import annotations

from functools import partial
from operator import eq
from typing import TYPE_CHECKING, get_args

from PySide6.QtCore import QObject

from app.settings import Theme
from app.ui.actions import Group, WindowAction
from app.ui.option_words import DRAFT_LENGTHS, length_words
from app.ui.tr import tr

if TYPE_CHECKING:
    from app.protocol import DraftTokens
    from app.ui.choices import Choices
    from app.ui.devices_control import DevicesControl
    from app.ui.engine_control import EngineControl
    from app.ui.main_window import MainWindow
    from app.ui.models_control import ModelsControl
    from app.ui.remote_control import RemoteControl
    from app.ui.serving_control import ServingControl
    from app.ui.shelf_control import ShelfControl

_THEMES = {"system": tr("As the system"), "light": tr("Light"), "dark": tr("Dark")}


class WindowActions(QObject):
    """Says what the window can do about speed, models and view, and does what is no other part's business."""

    def __init__(self, window: MainWindow, choices: Choices, engine: EngineControl, models: ModelsControl) -> None:
        super().__init__(window)
        self._window, self._choices, self._engine = window, choices, engine
        actions = window.action_list
        actions.add(*self._of_models(models), *self._of_speed(), *self._of_view(), *self._of_notices())
        actions.add_source(self._lengths)
        actions.add_source(self._themes)

    def _of_models(self, models: ModelsControl) -> tuple[WindowAction, ...]:
        words = tr("Models: find, get, delete…")
        return (
            WindowAction(
                "models.open", words, models.open, "models", ("Ctrl+M",), also=tr("download manager hub pull")
            ),
            WindowAction("engine.restart", tr("Start the engine again"), self._engine.restart, "models"),
        )

    def use(self, shelf: ShelfControl, devices: DevicesControl, serving: ServingControl, remote: RemoteControl) -> None:
        """Offer what can be done with model files and devices, and the server."""
        self._window.action_list.add(
            WindowAction(
                "models.files", tr("Open model files…"), shelf.drop.choose_files, "models", also=tr("gguf import")
            ),
            WindowAction("models.folder", tr("Models folder…"), shelf.open_folder, "models", also=tr("move")),
            WindowAction("models.devices", tr("Devices and runtimes…"), devices.open, "models", ("Ctrl+Shift+R",)),
            WindowAction(
                "models.serve", tr("Serve on this computer…"), serving.open, "models", also=tr("server api key openai")
            ),
            WindowAction(
                "models.remote",
                tr("Models on other servers…"),
                remote.open,
                "models",
                also=tr("remote address key openai llama-server vllm sglang"),
            ),
        )

    def _of_speed(self) -> tuple[WindowAction, ...]:
        panel = self._window.panel
        group: Group = "speed"
        toggle = self._window.pair_bar.toggle_speculation
        return (
            WindowAction("speed.toggle", tr("Speculation on or off"), toggle, group, ("Ctrl+K",)),
            WindowAction("speed.profile", tr("Which draft is worth it?…"), panel.foot.profile_requested.emit, group),
            WindowAction("speed.record", tr("Record baseline"), panel.record_requested.emit, group),
            WindowAction(
                "speed.baselines", tr("Baselines…"), panel.foot.baselines_requested.emit, group, in_menu=False
            ),
            WindowAction(
                "speed.compare", tr("Compare sessions…"), panel.foot.compare_requested.emit, group, in_menu=False
            ),
            WindowAction(
                "speed.export", tr("Export session metrics…"), panel.export_requested.emit, group, ("Ctrl+Shift+E",)
            ),
        )

    def _of_view(self) -> tuple[WindowAction, ...]:
        window = self._window
        group: Group = "view"
        return (
            WindowAction(
                "view.sidebar",
                tr("Conversations"),
                window.toggle_sidebar,
                group,
                ("Ctrl+B",),
                also=tr("show hide list sidebar"),
                is_on=lambda: not window.sidebar.isHidden(),
            ),
            WindowAction(
                "view.panel",
                tr("Speed panel"),
                window.toggle_panel,
                group,
                ("Ctrl+J",),
                also=tr("show hide charts"),
                is_on=lambda: not window.panel.isHidden(),
            ),
            WindowAction(
                "view.tokens",
                tr("Colour tokens by who drafted them"),
                self.toggle_tokens,
                group,
                ("Ctrl+T",),
                is_on=lambda: self._choices.settings.token_colours,
            ),
        )

    def _of_notices(self) -> tuple[WindowAction, ...]:
        notice = self._window.notice
        return (
            WindowAction(
                "notice.press",
                tr("Press the button of the notice"),
                notice.on_action,
                "view",
                ("Ctrl+Shift+N",),
                also=tr("undo"),
                is_offered=lambda: notice.has_action,
                in_menu=False,
            ),
        )

    def _lengths(self) -> tuple[WindowAction, ...]:
        chosen = self._choices.settings.draft_tokens
        return tuple(
            WindowAction(
                f"speed.length.{length}",
                tr("Draft length: {length_words}").format(length_words=length_words(length)),
                partial(self.choose_length, length),
                "speed",
                submenu=tr("Draft length"),
                choice=length_words(length),
                is_on=partial(eq, length, chosen),
            )
            for length in dict.fromkeys((*DRAFT_LENGTHS, chosen))
        )

    def _themes(self) -> tuple[WindowAction, ...]:
        chosen = self._choices.settings.theme
        return tuple(
            WindowAction(
                f"view.theme.{theme}",
                tr("Colours: {themes}").format(themes=_THEMES[theme]),
                partial(self.choose_theme, theme),
                "view",
                submenu=tr("Colours"),
                choice=_THEMES[theme],
                also=tr("theme"),
                is_on=partial(eq, theme, chosen),
            )
            for theme in get_args(Theme)
        )

    # --- doing ----------------------------------------------------------------------------------------

    def toggle_tokens(self) -> None:
        """Ask for the tokens of answers from the next one on, or no more; show or hide those that are known."""
        is_on = not self._choices.settings.token_colours
        self._choices.change(token_colours=is_on)
        words = tr("Tokens of the next answers will be coloured.") if is_on else tr("Tokens are not coloured any more.")
        self._window.notice.say("info", words, expires_s=4)

    def choose_length(self, length: DraftTokens) -> None:
        """Draft that many tokens at most, or what pays, from the next answer on."""
        self._choices.change(draft_tokens=length)
        self._engine.note_engagement(None)

    def choose_theme(self, theme: Theme) -> None:
        """Switch between light, dark and the system's colours."""
        self._choices.change(theme=theme)
