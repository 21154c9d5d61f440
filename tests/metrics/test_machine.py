from __future__ import annotations

import platform

from app.metrics.machine import cpu_name, machine, os_name


def test_machine_is_described_without_naming_its_owner():
    facts = machine("CPU")

    assert facts.device == "CPU"
    assert facts.cores >= 1
    assert facts.memory_bytes > 2**28
    assert platform.machine() in facts.os
    assert facts.cpu
    assert platform.node() not in f"{os_name()} {cpu_name()}" or not platform.node()
