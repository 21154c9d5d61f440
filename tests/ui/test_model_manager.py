"""The model manager in a real window: keys alone, names for screen readers, refusals, restarts, a calm loop."""

from __future__ import annotations

import asyncio
import random
import shutil
import threading

import huggingface_hub
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QScrollArea,
    QWidget,
)

from app.engine.probe import Sizes
from app.host.pulling import Pull
from app.models.catalog import Catalog
from app.models.library import Library
from app.models.memory import PairMemory, Room, Share
from app.paths import models_dir
from app.ui.discover import SEARCH, STOP
from app.ui.memory_bar import MemoryBar, MemoryView
from app.ui.model_manager import DISCOVER, DOWNLOADS, LIBRARY, ModelManager
from app.ui.model_words import percent, pull_words, time_words
from app.ui.models_control import ASKED_FROM_BYTES
from app.ui.pair_card import LOOK, LOOK_AGAIN, STOP_LOOKING, PairCard
from app.ui.question import Question
from app.ui.theme import DARK, LIGHT
from tests.benchmarks.download import serving
from tests.doubles import Answer
from tests.fair_time import FairWatch
from tests.fixtures import tiny, tiny_mtp
from tests.hub_server import HubServer

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints", "does not support raise")

REPO = "org/tiny-GGUF"
LATE_S = 0.05


@pytest.fixture
def server(monkeypatch):
    """Start a hub, where HF_ENDPOINT points to."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    with HubServer() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.endpoint)
        yield running
        huggingface_hub.close_session()


@pytest.fixture
def gone(monkeypatch):
    """Point to a hub that nobody answers for."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")


def press(key, modifier=Qt.KeyboardModifier.NoModifier) -> None:
    """Press a key where the focus is, as a keyboard does."""
    widget = QApplication.focusWidget()
    assert widget is not None, "nothing has the focus"
    QTest.keyClick(widget, key, modifier)


def type_words(words: str) -> None:
    QTest.keyClicks(QApplication.focusWidget(), words)


async def tab_to(widget: QWidget) -> None:
    """Press Tab until a widget has the focus."""
    for _ in range(40):
        if QApplication.focusWidget() is widget:
            return
        press(Qt.Key.Key_Tab)
        await asyncio.sleep(0)
    raise AssertionError(f"Tab never reaches {widget.accessibleName() or widget.text()}")


async def open_manager(program, tab=DISCOVER) -> ModelManager:
    program.controller.models.open(tab)
    manager = program.controller.models.manager
    await program.until(lambda: (manager.isVisible() and manager.discover.machine.text()) or tab != DISCOVER)
    return manager


def put(source, name):
    place = models_dir() / "org" / "tiny" / name
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, place)
    return place


def names_in(tree) -> list[str]:
    found = []
    for index in range(tree.topLevelItemCount()):
        section = tree.topLevelItem(index)
        if not section.isHidden():
            rows = (section.child(row) for row in range(section.childCount()))
            found += [row.text(0) for row in rows if not row.isHidden()]
    return found


# --- keys alone -------------------------------------------------------------------------------------


def test_find_judge_pull_load_and_delete_with_keys_alone(program, server, tiny_pair):
    server.add(REPO, "some-Q8_0.gguf", tiny_pair.target)

    async def story():
        window = program.window
        window.activateWindow()
        window.composer.take_focus()
        press(Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
        manager = program.controller.models.manager
        await program.until(lambda: QApplication.focusWidget() is manager.discover.tree)
        # find
        press(Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
        await program.until(lambda: QApplication.focusWidget() is manager.discover.entry)
        type_words("tiny")
        press(Qt.Key.Key_Return)
        await program.until(lambda: REPO in names_in(manager.discover.tree))
        await program.until(lambda: QApplication.focusWidget() is manager.discover.tree)
        press(Qt.Key.Key_Right)
        card = manager.discover.card
        await program.until(lambda: manager.discover.tree.currentItem().text(0) == "Q8_0")
        assert manager.discover.tree.currentItem().text(2) == "fits"
        # judge
        await program.until(lambda: card.offers is not None)
        assert card.fit.text() == "N-gram drafting fits."
        assert dict(card.memory.table)["Total"].endswith("MB")
        assert "apache-2.0" in card.facts.text()
        # pull
        press(Qt.Key.Key_Return)
        assert QApplication.focusWidget() is card.get
        await asyncio.sleep(0.1)
        assert program.controller.models.pulls.pulls == ()  # one Enter goes there, another presses
        assert "fits" in card.get.accessibleDescription()
        press(Qt.Key.Key_Return)
        place = models_dir() / "org" / "tiny-GGUF" / "some-Q8_0.gguf"
        await program.until(lambda: place.exists() and not card.load.isHidden())
        assert place.read_bytes() == tiny_pair.target.read_bytes()
        # load
        await tab_to(card.load)
        press(Qt.Key.Key_Space)
        await program.until(lambda: not program.controller.engine.is_loading)
        assert program.controller.choices.settings.target == "some-Q8_0"
        assert not manager.isVisible()
        assert QApplication.focusWidget() is not None
        # delete, from another model, which the starter then is
        press(Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
        await program.until(lambda: QApplication.focusWidget() is manager.discover.tree)
        press(Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
        await program.until(lambda: names_in(manager.library.tree) == ["starter", "some-Q8_0"])
        while manager.library.tree.currentItem().text(0) != "some-Q8_0":
            press(Qt.Key.Key_Down)
        press(Qt.Key.Key_Delete)
        library = program.controller.models._library
        await program.until(lambda: library.question is not None)
        await program.until(lambda: QApplication.focusWidget() in library.question.buttons())
        assert "starter takes its place" in library.question.informativeText()
        await tab_to(next(b for b in library.question.buttons() if b.text() == "Move to trash"))
        press(Qt.Key.Key_Space)
        await program.until(lambda: names_in(manager.library.tree) == ["starter"])
        assert not place.exists()
        assert program.controller.choices.settings.target == "starter"

    program.run(story)


def test_the_safe_answer_is_the_default_when_deleting(program, tiny_pair):
    place = put(tiny_pair.target, "target.gguf")

    async def story():
        manager = await open_manager(program, LIBRARY)
        await program.until(lambda: "target" in names_in(manager.library.tree))
        press(Qt.Key.Key_Down)
        press(Qt.Key.Key_Delete)
        library = program.controller.models._library
        await program.until(lambda: library.question is not None)
        await program.until(lambda: QApplication.focusWidget() in library.question.buttons())
        press(Qt.Key.Key_Return)
        await program.until(lambda: library.question is None)
        assert not library._deleting.is_running
        assert place.exists()

    program.run(story)


# --- screen readers and small screens ---------------------------------------------------------------

CONTROLS = QAbstractButton | QComboBox | QLineEdit | QPlainTextEdit | QAbstractItemView | QProgressBar | QScrollArea


def test_every_control_has_a_name(program, server, tiny_pair):
    server.add(REPO, "some-Q8_0.gguf", tiny_pair.target)
    put(tiny_pair.target, "target.gguf")
    put(tiny_pair.draft, "draft.gguf")

    async def story():
        manager = await open_manager(program)
        card = manager.discover.card
        card.token.ask(REPO, "It wants to know who asks.")
        manager.downloads.show_pull(Pull("org/some", "downloading", 5, 10, 1e6, 5.0))
        manager.downloads.show_pull(Pull("org/other", "failed", 5, 10, detail="No.", gated_repo="org/other"))
        manager.notice.say("info", "words")
        controls = [widget for widget in manager.findChildren(QWidget) if isinstance(widget, CONTROLS)]
        inside = [widget for widget in controls if widget.objectName().startswith("qt_")]  # arrows of tab bars
        controls = [widget for widget in controls if widget not in inside and widget is not manager.notice._action]
        assert len(controls) > 40
        nameless = [w for w in controls if not (w.accessibleName() or (isinstance(w, QAbstractButton) and w.text()))]
        assert [(type(w).__name__, type(w.parent()).__name__) for w in nameless] == []
        assert card.memory.bar.accessibleName() or card.memory.isHidden()

    program.run(story)


def keys_of(widgets) -> dict[str, list[str]]:
    """Return the Alt keys of buttons, with what is written on those that have them."""
    found: dict[str, list[str]] = {}
    for widget in widgets:
        key = QKeySequence.mnemonic(widget.text()).toString()
        if key:
            found.setdefault(key, []).append(widget.text())
    return found


def test_no_two_controls_that_can_be_seen_together_have_the_same_key(program, tiny_pair):
    put(tiny_pair.target, "target.gguf")

    async def story():
        manager = await open_manager(program)
        for tab, page in ((DISCOVER, manager.discover), (LIBRARY, manager.library), (DOWNLOADS, manager.downloads)):
            manager.go_to(tab)
            await asyncio.sleep(0)
            for said in (LOOK, STOP_LOOKING, LOOK_AGAIN):
                buttons = [b for b in page.findChildren(QAbstractButton) if b.objectName() != "qt_tab"]
                if hasattr(page, "card"):
                    page.card.elsewhere.setText(said)
                clashes = {key: words for key, words in keys_of(buttons).items() if len(set(words)) > 1}
                assert clashes == {}

    program.run(story)


def test_what_a_control_that_changes_says_is_said_to_a_screen_reader_too(put):
    card = put(PairCard("nothing"))
    for words in (LOOK, STOP_LOOKING, LOOK_AGAIN):
        card.elsewhere.setText(words)
        name = QAccessible.queryAccessibleInterface(card.elsewhere).text(QAccessible.Text.Name)
        assert name == words.replace("&", "")


def test_it_fits_a_small_screen_at_150_percent(program, tiny_pair):
    put(tiny_pair.target, "a-model-with-quite-a-long-name-that-has-to-be-shortened-Q8_0.gguf")

    async def story():
        manager = await open_manager(program)
        manager.resize(1280 * 2 // 3, 740 * 2 // 3)
        for tab in (DISCOVER, LIBRARY, DOWNLOADS):
            manager.go_to(tab)
            await asyncio.sleep(0.3)
            assert manager.width() == 1280 * 2 // 3, f"tab {tab} wants {manager.minimumSizeHint()}"
            assert manager.height() == 740 * 2 // 3, f"tab {tab} wants {manager.minimumSizeHint()}"

    program.run(story)


def test_size_and_splits_are_remembered(program):
    async def first():
        manager = await open_manager(program)
        manager.resize(760, 505)
        manager.discover.split.setSizes([200, 500])
        manager.reject()

    async def second():
        manager = await open_manager(program)
        assert (manager.width(), manager.height()) == (760, 505)
        left, right = manager.discover.split.sizes()
        assert left < right

    program.run(first)
    program.window._may_close = False
    program.window.show()
    program.run(second)


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_bar_and_the_table_show_every_part(put, theme, scheme):
    theme.choose("dark" if scheme is DARK else "light")
    view = put(MemoryView(), 400, 200)
    mib = 1 << 20
    target, draft = Sizes(300 * mib, 60 * mib, 0, 20 * mib), Sizes(100 * mib, 20 * mib, 0, 10 * mib)
    view.show_memory(PairMemory(4096, target, draft, Room("CPU", 800 * mib, 1000 * mib), 8192, is_exact=True))
    rows = dict(view.table)
    assert list(rows) == ["Target", "Draft", "Context (KV)", "Working memory", "Total", "Free now"]
    assert (rows["Draft"], rows["Context (KV)"], rows["Total"]) == ("105 MB", "84 MB", "535 MB")
    assert "8,192 tokens" in view.sentence.text()
    assert "fits" in view.bar.accessibleName()
    image = view.bar.grab().toImage()
    seen = {image.pixelColor(x, 9).name() for x in range(image.width())}
    assert {scheme.border, scheme.accent, scheme.plain, scheme.base} <= seen
    # and what does not fit is said, and fewer rows are shown again
    view.show_memory(PairMemory(4096, target, None, Room("CPU", 100 * mib, 1000 * mib), 0, is_exact=False))
    assert "Draft" not in dict(view.table)
    assert "does not fit" in view.bar.accessibleName()


@pytest.mark.parametrize("scheme", [LIGHT, DARK], ids=["light", "dark"])
def test_where_several_devices_share_a_pair_each_has_its_own_numbers(put, theme, scheme):
    theme.choose("dark" if scheme is DARK else "light")
    view, mib = put(MemoryView(), 400, 300), 1 << 20
    target = Sizes(300 * mib, 60 * mib, 0, 20 * mib)
    own, gpu, npu = Room("CPU", 800 * mib, 1000 * mib), Room("GPU0", 100 * mib, 1000 * mib), Room("HTP0", 0, 0)
    shares = Share(own, 80 * mib), Share(gpu, 200 * mib), Share(npu, 100 * mib)
    view.show_memory(PairMemory(4096, target, None, own, 0, is_exact=False, shares=shares))
    assert [words.split(" takes ")[0] for words in view.device_words] == ["CPU", "GPU0", "HTP0"]
    assert ["does not fit" in words for words in view.device_words] == [False, True, False]
    assert "does not tell" in view.device_words[2]
    assert "Free now" not in dict(view.table)
    assert view.bar.isHidden()
    bars = [bar for bar in view.findChildren(MemoryBar) if bar.isVisible()]
    assert [bar.accessibleName() for bar in bars] == view.device_words[:2]
    image = bars[1].grab().toImage()
    assert {scheme.accent, scheme.danger} <= {image.pixelColor(x, 9).name() for x in range(image.width())} | {
        image.pixelColor(x, 1).name() for x in range(image.width())
    }
    # and back to the processor alone
    view.show_memory(PairMemory(4096, target, None, own, 0, is_exact=False))
    assert view.device_words == []
    assert not view.bar.isHidden()
    assert "Free now" in dict(view.table)


# --- what goes wrong --------------------------------------------------------------------------------


def test_without_a_hub_the_catalog_is_there_and_what_is_wrong_is_said(program, gone):
    async def story():
        manager = await open_manager(program)
        tree, card = manager.discover.tree, manager.discover.card
        assert len(names_in(tree)) > 10
        assert manager.discover.current.card.ranked.is_recommended
        assert card.fit.text()
        assert dict(card.memory.table)["Total"]
        await program.until(lambda: not card.retry.isHidden())
        assert "onnection" in card.fault.text()
        manager.discover.entry.setText("qwen3")
        assert len(names_in(tree)) > 1
        assert all("Qwen3" in name for name in names_in(tree))
        manager.discover.on_search()
        await program.until(lambda: "onnection" in manager.discover.words.text())
        assert "matched pairs" in manager.discover.words.text()

    program.run(story)


def test_a_gated_repository_without_a_token_with_a_wrong_one_and_with_the_right_one(program, server, tiny_pair):
    server.add(REPO, "some-Q8_0.gguf", tiny_pair.target)
    server.repos[REPO].gated = "manual"
    server.repos[REPO].admitted = {"hf_right"}
    server.tokens = {"hf_right"}

    async def story():
        manager = await open_manager(program)
        discover, card = manager.discover, manager.discover.card
        discover.entry.setText(REPO)
        discover.on_search()
        await program.until(lambda: not card.token.isHidden())
        without = card.token.words.text()
        assert f"{server.endpoint}/{REPO}" in without
        assert not card.token.page.isHidden()
        card.token.entry.setFocus()
        type_words("hf_wrong")
        press(Qt.Key.Key_Return)
        assert card.token.entry.text() == ""
        await program.until(lambda: "wrong" in card.token.answer.text())
        wrong = card.token.answer.text()
        assert "hf_wrong" not in wrong
        card.token.entry.setFocus()
        type_words("hf_right")
        press(Qt.Key.Key_Return)
        await program.until(lambda: card.offers is not None)
        right = card.token.answer.text()
        assert "kept" in right
        assert len({without, wrong, right}) == 3
        card.get.click()
        await program.until(lambda: (models_dir() / REPO / "some-Q8_0.gguf").exists())

    program.run(story)
    assert {seen.origin for seen in server.seen if "hf_right" in str(seen.headers)} == {"hub"}


def test_a_download_that_is_refused_takes_the_token_where_it_stands(program, server, tiny_pair):
    server.add(REPO, "some-Q8_0.gguf", tiny_pair.target)
    server.repos[REPO].gated = "manual"
    server.repos[REPO].admitted = {"hf_right"}
    server.tokens = {"hf_right", "hf_stranger"}

    async def story():
        models = program.controller.models
        models.pulls.get(await asyncio.to_thread(item_of, program, server))
        await program.until(lambda: "terms" in program.window.notice.words)
        program.window.notice.on_action()
        (row,) = models.manager.downloads.rows.values()
        assert not row.token.isHidden()
        assert row.resume.text() == "Try again"
        said = [row.words.text()]
        for token in ("hf_stranger", "hf_right"):
            row.token.entry.setText(token)
            row.token.use.click()
            await program.until(
                lambda: row.pull.phase == "done" or (row.words.text() not in (*said, "") and row.pull.phase == "failed")
            )
            said.append(row.words.text())
        assert "has not been admitted" in said[1]
        assert row.pull.phase == "done"
        assert row.token.isHidden()

    program.run(story)


def test_a_drafters_repository_that_is_gated_is_the_one_that_is_named(program, server, tmp_path):
    pair = tiny_mtp.gemma4_pair(tmp_path)
    curated = next(one for one in Catalog.load().pairs if one.id == "gemma-4-26b-a4b")
    server.add(curated.target.repo, curated.target.files[0].path, pair.target)
    server.add(curated.draft.repo, curated.draft.files[0].path, pair.draft)
    server.repos[curated.draft.repo].gated = "manual"

    async def story():
        manager = await open_manager(program)
        tree, card = manager.discover.tree, manager.discover.card
        pairs = tree.topLevelItem(0)
        rows = [pairs.child(index) for index in range(pairs.childCount())]
        tree.setCurrentItem(next(row for row in rows if row.text(0) == curated.title))
        await program.until(lambda: not card.token.isHidden())
        assert card.token.repo == curated.draft.repo

    program.run(story)


def test_a_broken_file_is_listed_with_the_reason_and_can_be_deleted(program, tiny_pair):
    place = models_dir() / "broken.gguf"
    tiny.truncated(place, tiny_pair.target)

    async def story():
        manager = await open_manager(program, LIBRARY)
        tab = manager.library
        await program.until(lambda: "broken.gguf" in names_in(tab.tree))
        tab.tree.setCurrentItem(tab.tree.topLevelItem(2).child(0))
        assert tab.tree.topLevelItem(2).child(0).text(3) == "Slipstream"
        assert "cannot be loaded" in tab.card.facts.text()
        assert not tab.use_as_draft.isEnabled()
        assert tab.delete.isEnabled()
        tab.delete.click()
        library = program.controller.models._library
        next(b for b in library.question.buttons() if b.text() == "Move to trash").click()
        await program.until(lambda: not place.exists())

    program.run(story)


def test_a_search_that_takes_long_can_be_stopped_with_the_button_that_began_it(program, server, tiny_pair):
    server.add(REPO, "some-Q8_0.gguf", tiny_pair.target)

    async def story():
        manager = await open_manager(program)
        tab = manager.discover
        await program.until(lambda: not tab.card.retry.isHidden())  # the first pair was asked for
        server.statuses = [("hub", 503, {"Retry-After": "2"})]
        tab.entry.setText("tiny")
        tab.search.setFocus()
        press(Qt.Key.Key_Space)
        assert tab.search.text() == STOP
        await program.until(lambda: server.statuses == [])
        press(Qt.Key.Key_Space)
        assert (tab.search.text(), tab.words.text()) == (SEARCH, "Stopped.")
        press(Qt.Key.Key_Space)
        await program.until(lambda: REPO in names_in(tab.tree))
        await program.until(lambda: tab.search.text() == SEARCH)
        # the question that nobody waits for any more ends by itself
        await program.until(lambda: not any(thread.name == "hub" for thread in threading.enumerate()))

    program.run(story)


# --- library ----------------------------------------------------------------------------------------


def test_what_drafts_for_a_model_best_first_and_why_the_rest_does_not(program, tiny_pair):
    put(tiny_pair.target, "target.gguf")
    put(tiny_pair.draft, "draft.gguf")

    async def story():
        manager = await open_manager(program, LIBRARY)
        tab, card = manager.library, manager.library.card
        await program.until(lambda: "target" in names_in(tab.tree))
        tab.tree.setCurrentItem(tab.tree.topLevelItem(0).child(2))
        assert tab.current.name == "target"
        await program.until(lambda: card.offers is not None and card.offers.target == "target")
        rows = [(card.list.topLevelItem(i).text(0), card.list.topLevelItem(i).text(1)) for i in range(3)]
        assert rows[1][0] == "draft"
        assert rows[1][1].startswith("fits")
        assert rows[2] == ("starter", "does not fit")
        card.list.setCurrentItem(card.list.topLevelItem(2))
        assert "not fit" in card.fit.text()
        assert "oken" in card.reasons.text()
        card.list.setCurrentItem(card.list.topLevelItem(1))
        await program.until(lambda: "dry load" in card.memory.sentence.text())
        assert "Draft" in dict(card.memory.table)
        card.load.click()
        await program.until(lambda: not program.controller.engine.is_loading)
        settings = program.controller.choices.settings
        assert (settings.target, settings.draft) == ("target", "draft")

    program.run(story)


def test_drafters_on_the_hub_are_looked_for_and_the_look_can_be_stopped(program, server, tmp_path, tiny_pair):
    put(tiny.llama(tmp_path / "Tiny-1M-instruct.gguf"), "target.gguf")
    server.add("org/Tiny-0.001M-GGUF", "Tiny-Q8_0.gguf", tiny_pair.draft)
    server.stall_at = 100

    async def story():
        manager = await open_manager(program, LIBRARY)
        tab, card = manager.library, manager.library.card
        await program.until(lambda: "target" in names_in(tab.tree))
        tab.tree.setCurrentItem(tab.tree.topLevelItem(0).child(1))
        await program.until(lambda: card.offers is not None and card.offers.target == "target")
        n_before, said = len(card.offers.offers), card.elsewhere.text()
        # WHEN the hub hangs, the same button ends the look
        card.elsewhere.setFocus()
        press(Qt.Key.Key_Space)
        assert card.elsewhere.text() != said
        await program.until(lambda: server.stall_at is None)
        press(Qt.Key.Key_Space)
        await program.until(lambda: "Stopped" in card.state.text())
        assert len(card.offers.offers) == n_before
        # AND another look finds it, puts it where it stands, and keeps what was chosen
        press(Qt.Key.Key_Space)
        await program.until(lambda: len(card.offers.offers) == n_before + 1)
        assert card.offer.judgement.kind == "n-gram"
        ranks = [offer.rank for offer in card.offers.offers]
        assert ranks == sorted(ranks)
        row = next(i for i, offer in enumerate(card.offers.offers) if offer.item is not None)
        assert card.list.topLevelItem(row).text(2) == "on the hub"
        card.list.setCurrentItem(card.list.topLevelItem(row))
        assert card.get.text().startswith("Get drafter")

    program.run(story)


def test_a_list_that_is_read_again_leaves_what_is_shown_alone(program, tiny_pair):
    put(tiny_pair.target, "target.gguf")

    async def story():
        manager = await open_manager(program, LIBRARY)
        card = manager.library.card
        await program.until(lambda: "dry load" in card.memory.sentence.text())
        assert not manager.library.delete.isEnabled()
        assert "comes with" in manager.library.delete.toolTip()
        shown = card.offers
        before = manager.library.tree.currentItem()
        program.controller.models.refresh()
        await program.until(lambda: manager.library.tree.currentItem() is not before)
        await asyncio.sleep(0.3)
        assert card.offers is shown
        # but what is new can draft, so that is said
        put(tiny_pair.draft, "draft.gguf")
        program.controller.models.refresh()
        await program.until(lambda: card.offers is not None and len(card.offers.offers) > len(shown.offers))

    program.run(story)


def test_nothing_is_loaded_while_an_answer_is_written(program, tiny_pair):
    put(tiny_pair.target, "target.gguf")
    program.answers = (Answer("word " * 200, pace_s=0.02),)

    async def story():
        manager = await open_manager(program, LIBRARY)
        await program.until(lambda: "target" in names_in(manager.library.tree))
        program.send("Go on and on.")
        await program.until(lambda: program.said)
        manager.library.tree.setCurrentItem(manager.library.tree.topLevelItem(0).child(1))
        manager.library.load_requested.emit()
        assert "being written" in manager.notice.words
        manager.library.use_as_draft.click()
        assert manager.isVisible()
        settings = program.controller.choices.settings
        assert (settings.target, settings.draft) == ("starter", None)

    program.run(story)


def test_drafters_are_kept_apart_and_draft_for_what_answers(program, tmp_path):
    pair = tiny_mtp.qwen35_pair(tmp_path)
    put(pair.target, "target.gguf")
    put(pair.draft, "some-heads.gguf")
    program.engine_options = {"heads": "file"}

    async def story():
        program.controller.engine.pick_target("target")
        await program.until(lambda: not program.controller.engine.is_loading)
        manager = await open_manager(program, LIBRARY)
        tab = manager.library
        await program.until(lambda: "some-heads" in names_in(tab.tree))
        drafters = tab.tree.topLevelItem(1)
        assert [drafters.child(i).text(0) for i in range(drafters.childCount())] == ["some-heads"]
        tab.tree.setCurrentItem(drafters.child(0))
        assert "only drafts" in tab.card.note.text()
        tab.use_as_draft.click()
        await program.until(lambda: not program.controller.engine.is_loading)
        assert program.controller.choices.settings.draft == "some-heads"
        assert "3 files" in tab.disk.text()

    program.run(story)


# --- downloads --------------------------------------------------------------------------------------


def big_file(path, n_mib=24):
    path.write_bytes(random.Random(1).randbytes(n_mib << 20))
    return path


def item_of(program, server):
    """Ask the hub for the one file of the repository; a file of noise cannot be judged, but can be pulled."""
    return program.controller.models.door.hub().resolve(f"{REPO}:Q8_0")


def test_pause_close_start_again_and_go_on(program, server, tmp_path, window, theme, qapp):
    server.add(REPO, "some-Q8_0.gguf", big_file(tmp_path / "big.bin"))
    server.rate_bytes_s = 6e6

    async def first():
        models = program.controller.models
        models.pulls.get(await asyncio.to_thread(item_of, program, server))
        manager = await open_manager(program, DOWNLOADS)
        row = manager.downloads.rows[f"{REPO}:Q8_0"]
        await program.until(lambda: row.pull.n_bytes > 2 << 20)
        assert "MB/s" in row.words.text()
        assert "(1)" in manager.tabs.tabText(DOWNLOADS)
        manager.downloads.go_to(row.pull.title)
        press(Qt.Key.Key_Space)
        await program.until(lambda: row.pull.phase == "paused")
        assert QApplication.focusWidget() is row.resume
        press(Qt.Key.Key_Space)
        await program.until(lambda: row.pull.is_running)
        # and the program ends in the middle of it

    async def second():
        models = program.controller.models
        models.on_look()
        await program.until(lambda: "not finished" in program.window.notice.words)
        program.window.notice.on_action()
        row = models.manager.downloads.rows[f"{REPO}:Q8_0"]
        assert row.pull.phase == "paused"
        assert row.pull.n_bytes > 2 << 20
        server.rate_bytes_s = None
        row.resume.click()
        await program.until(lambda: row.pull.phase == "done")
        assert row.load.isVisible()
        row.remove.click()
        await program.until(lambda: not models.manager.downloads.rows)
        assert (models_dir() / REPO / "some-Q8_0.gguf").exists()

    program.run(first)
    window.show()
    window._may_close = False
    program.run(second)


def test_cancel_and_remove(program, server, tmp_path):
    server.add(REPO, "some-Q8_0.gguf", big_file(tmp_path / "big.bin", 80))
    server.stall_at = ASKED_FROM_BYTES + (8 << 20)  # so much is there, and the rest does not come meanwhile

    async def story():
        models = program.controller.models
        models.pulls.get(await asyncio.to_thread(item_of, program, server))
        manager = await open_manager(program, DOWNLOADS)
        row = manager.downloads.rows[f"{REPO}:Q8_0"]
        await program.until(lambda: row.pull.n_bytes > ASKED_FROM_BYTES)
        row.remove.click()
        (question,) = manager.findChildren(Question)
        assert "Pause keeps them" in question.informativeText()
        question.reject()
        await asyncio.sleep(0.05)
        assert row.pull.is_running
        row.remove.click()
        next(q for q in manager.findChildren(Question) if q.isVisible()).answer.click()
        await program.until(lambda: not manager.downloads.rows)
        assert manager.downloads.nothing.isVisible()
        assert not list(models_dir().rglob("*.part"))

    program.run(story)


def test_two_that_are_removed_at_once_are_both_gone(program, server, tmp_path):
    for n_mib, name in ((24, "one"), (25, "other")):
        server.add(f"org/{name}", f"{name}-Q8_0.gguf", big_file(tmp_path / f"{name}.bin", n_mib))
    server.rate_bytes_s = 2e6

    async def story():
        models = program.controller.models
        hub = models.door.hub()
        for name in ("one", "other"):
            models.pulls.get(await asyncio.to_thread(hub.resolve, f"org/{name}"))
        rows = (await open_manager(program, DOWNLOADS)).downloads.rows
        await program.until(lambda: all(row.pull.n_bytes for row in rows.values()))
        for row in tuple(rows.values()):
            row.remove.click()
        await program.until(lambda: not rows)
        assert not list(models_dir().rglob("*.part"))

    program.run(story)


def test_a_download_that_ends_while_the_manager_is_closed_is_told_in_the_window(program, server, tiny_pair):
    server.add(REPO, "some-Q8_0.gguf", tiny_pair.target)

    async def story():
        program.controller.models.pulls.get(await asyncio.to_thread(item_of, program, server))
        await program.until(lambda: "is here" in program.window.notice.words)
        program.window.notice.on_action()
        await program.until(lambda: program.controller.choices.settings.target == "some-Q8_0")

    program.run(story)


async def gaps_until(ended) -> list[float]:
    """Tick until it has ended; return the time between the ticks."""
    gaps = []
    while not ended():
        watch = FairWatch()
        await asyncio.sleep(0.002)
        gaps.append(watch.took_s)
    return gaps


def is_calm(gaps) -> None:
    """Check that a loop was held up at most by chance: others may take the processor from a test now and then."""
    late = [round(1000 * gap) for gap in gaps if gap > LATE_S]
    assert len(gaps) > 20
    assert len(late) <= len(gaps) // 50, late


def test_the_loop_never_waits_for_a_download(program, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    source = big_file(tmp_path / "served-Q8_0.gguf", 96)
    gaps = []

    async def story():
        models = program.controller.models
        manager = await open_manager(program, DOWNLOADS)
        await asyncio.sleep(1)  # opening a window takes its own time
        models.pulls.get(await asyncio.to_thread(lambda: models.door.hub().resolve("org/served")))
        gaps.extend(await gaps_until(lambda: not models.pulls.pulls[0].is_running))
        assert models.pulls.pulls[0].phase == "done"
        assert manager.downloads.rows["org/served"].load.isVisible()

    with serving(source) as endpoint:
        monkeypatch.setenv("HF_ENDPOINT", endpoint)
        program.run(story)
        huggingface_hub.close_session()
    is_calm(gaps)


def test_the_loop_never_waits_for_headers_vocabularies_and_dry_loads(program):
    gaps = []

    async def story():
        manager = await open_manager(program, LIBRARY)
        await asyncio.sleep(1)
        await asyncio.to_thread(put, Library().resolve("starter").path, "new.gguf")
        program.controller.models.refresh()
        await program.until(lambda: "new" in names_in(manager.library.tree))
        manager.library.tree.setCurrentItem(manager.library.tree.topLevelItem(0).child(1))
        card = manager.library.card
        is_weighed = lambda: card.offers is not None and card.offer.judgement.memory.is_exact  # noqa: E731
        gaps.extend(await gaps_until(lambda: is_weighed() and card.offers.target == "new"))

    program.run(story)
    is_calm(gaps)


# --- words ------------------------------------------------------------------------------------------


def test_downloads_in_words():
    words = pull_words(Pull("t", "downloading", 1_500_000_000, 3_000_000_000, 25e6, 60.0))
    assert words == "1.5 GB of 3.0 GB · 25.0 MB/s · 1 min left"
    assert pull_words(Pull("t", "stalled", 1, 10, detail="No bytes have come for 20 s.")).startswith("Stalled")
    failed = pull_words(Pull("t", "failed", 0, 0, detail="No room.", hint="Make some."))
    assert failed == "Stopped · No room. · Make some."
    assert percent(Pull("t", "verifying", 10, 10)) == 99
    assert percent(Pull("t", "done", 10, 10)) == 100
    assert [time_words(s) for s in (0.2, 59, 90, 3720)] == ["1 s", "59 s", "2 min", "1 h 02 min"]
