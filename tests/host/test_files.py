"""A pair is loaded once, until another file comes into the place of one of its files."""

import asyncio
import os
import shutil

from app.host import Host, PairChoice
from app.protocol import Load
from tests.doubles import ScriptedEngine


def test_a_file_in_the_place_of_the_one_that_is_loaded_is_loaded(home, tiny_pair, tmp_path):
    target, draft, engine = tmp_path / "target.gguf", tmp_path / "draft.gguf", ScriptedEngine()
    shutil.copy(tiny_pair.target, target)
    shutil.copy(tiny_pair.draft, draft)

    def n_loads():
        return sum(isinstance(command, Load) for command in engine.commands)

    async def story():
        host = Host(make_engine=lambda: engine)
        pair = PairChoice(str(target), str(draft))
        counts = []
        for change in (None, None, lambda: os.utime(draft, (1, 1)), None, target.unlink, None):
            if change is not None:
                change()
            await host.load(pair)
            counts.append(n_loads())
        shutil.copy(tiny_pair.draft, target)
        await host.load(pair)
        counts.append(n_loads())
        await host.close()
        return counts

    assert asyncio.run(story()) == [1, 1, 2, 2, 2, 2, 3]
