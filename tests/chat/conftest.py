from contextlib import closing

import pytest

from app.chat.store import ChatStore


@pytest.fixture
def path(tmp_path):
    return tmp_path / "chats.db"


@pytest.fixture
def store(path):
    with closing(ChatStore(path)) as opened:
        yield opened


@pytest.fixture
def reopened(path):
    return lambda: closing(ChatStore(path))
