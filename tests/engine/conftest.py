"""A session of the engine, for tests that load what they like into it."""

import pytest

from app.engine.session import Session
from app.engine.template import Renderer


@pytest.fixture
def session():
    session = Session(Renderer())
    yield session
    session.close()
