"""Putting a backup in the place of what is here, between two windows: nothing may have the chats open meanwhile."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import NamedTuple

from app.chat import backup
from app.errors import SlipstreamError
from app.host.background import beside
from app.models.transfer import StoppedError
from app.ui.notice import NoticeKind
from app.ui.tr import tr
from app.ui.work_dialog import Work, WorkDialog

logger = logging.getLogger(__name__)


class Said(NamedTuple):
    """What the next window tells."""

    kind: NoticeKind
    message: str
    hint: str = ""


async def restore(path: Path) -> Said:
    """Restore a backup with its progress on the screen; return what came of it."""
    work = Work()
    dialog = WorkDialog(None, tr("Restoring the backup…"), work)
    dialog.open()
    try:
        restored = await beside(lambda: backup.restore(path, work.note), "restore")
    except StoppedError:
        return Said("info", tr("The backup was not restored. Everything is as it was."))
    except SlipstreamError as fault:
        logger.info("the backup was not restored: %s", fault.message)
        return Said("error", fault.message, fault.hint)
    finally:
        dialog.end()
    return Said(
        "info",
        tr("The backup was restored."),
        tr("What was here before is in {kept_in}.").format(kept_in=restored.kept_in),
    )
