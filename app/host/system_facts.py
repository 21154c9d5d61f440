"""Reads what the system tells about chip and drivers: the registry on Windows, ``/proc`` and ``/sys`` elsewhere."""

from __future__ import annotations

import os
import platform
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from app.host.soc import Driver, DriverKind, Facts
from app.metrics.machine import cpu_name

_CLASSES: dict[DriverKind, str] = {  # setup classes Display and ComputeAccelerator
    "gpu": "{4d36e968-e325-11ce-bfc1-08002be10318}",
    "npu": "{f01a9d53-3ff6-48d2-9f97-c8a7004be10c}",
}
_DRIVER_VALUES = ("DriverDesc", "DriverVersion", "DriverDate", "InfPath", "ProviderName")

SYSFS = Path("/sys")


def system_facts(sysfs: Path = SYSFS) -> Facts:
    """Look; takes milliseconds."""
    if sys.platform == "win32":
        return _windows_facts()
    model = _text(sysfs / "firmware/devicetree/base/model")
    name = cpu_name()
    return Facts(
        processor=model if model and "snapdragon" in model.lower() else name,
        system=platform.system(),
        core_classes=core_classes(sysfs / "devices/system/cpu"),
        drivers=drivers_linux(sysfs),
    )


def core_classes(cpus: Path) -> tuple[int, ...]:
    """Count processors by what the scheduler takes for their capacity, else by their highest clock."""
    for name in ("cpu_capacity", "cpufreq/cpuinfo_max_freq"):
        found = Counter(value for path in cpus.glob("cpu[0-9]*") if (value := _text(path / name)).isdecimal())
        if found:
            return tuple(found[speed] for speed in sorted(found, key=int, reverse=True))
    n = len([path for path in cpus.glob("cpu[0-9]*") if path.is_dir()])
    return (n,) if n else ()


def drivers_linux(sysfs: Path) -> tuple[Driver, ...]:
    """Name the kernel's drivers of GPUs and accelerators, with the kernel's version: they come with it."""
    found = []
    kinds: tuple[tuple[DriverKind, str], ...] = (("gpu", "class/drm"), ("npu", "class/accel"))
    for kind, place in kinds:
        for link in sorted((sysfs / place).glob("*/device/driver")):
            found.append(Driver(kind, link.resolve().name, platform.release()))  # noqa: PERF401
    return tuple(dict.fromkeys(found))


def has_npu_library(service: str, system_root: str) -> bool | None:
    """Tell whether the folder of the NPU's service in the driver store holds its library; None without a service.

    llama.cpp looks there, too (``ggml/src/ggml-hexagon/htp-drv.cpp``).
    """
    if not service:
        return None
    folder = service.strip('"').replace("\\", "/").rpartition("/")[0]
    if folder.lower().startswith("/systemroot"):
        folder = system_root.replace("\\", "/") + folder[len("/systemroot") :]
    elif folder.lower().startswith("system32"):
        folder = f"{system_root}/{folder}"
    return (Path(folder) / "libcdsprpc.dll").is_file()


def driver_of(kind: DriverKind, values: Mapping[str, object]) -> Driver | None:
    """Return the driver that values of the registry tell of; None for one that drives no device of that kind.

    What a device is called is in the language of Windows, who made its driver is not. Display adapters by Microsoft
    are those of every Windows: the basic one, which is there in want of the right driver, and remote ones.
    """
    told = {name: " ".join(str(value).split("\0")[0].split()) for name, value in values.items() if value is not None}
    device = told.get("DriverDesc", "")
    if not device or (kind == "gpu" and told.get("ProviderName", "").lower() == "microsoft"):
        return None
    return Driver(kind, device, told.get("DriverVersion", ""), told.get("DriverDate", ""), told.get("InfPath", ""))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip("\0\n ")
    except OSError:
        return ""


if sys.platform == "win32":
    import winreg

    def _windows_facts() -> Facts:
        from app.engine.threads import core_classes_windows

        control = r"SYSTEM\CurrentControlSet\Control"
        options = _value(control, "SystemStartOptions")
        found = [
            driver_of(kind, {name: _raw(key, name) for name in _DRIVER_VALUES})
            for kind, place in _CLASSES.items()
            for key in _subkeys(rf"{control}\Class\{place}")
        ]
        return Facts(
            processor=cpu_name(),
            system="Windows",
            core_classes=core_classes_windows(),
            drivers=tuple(dict.fromkeys(driver for driver in found if driver is not None)),
            is_test_mode="TESTSIGNING" in options.upper() if options else None,
            has_npu_library=has_npu_library(
                _value(r"SYSTEM\CurrentControlSet\Services\qcnspmcdm", "ImagePath"), os.environ.get("SYSTEMROOT", "")
            ),
        )

    def _subkeys(place: str) -> list[str]:
        found = []
        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:
                for index in range(winreg.QueryInfoKey(key)[0]):
                    name = winreg.EnumKey(key, index)
                    if name.isdigit():  # beside them a "Properties" that only the system may read
                        found.append(rf"{place}\{name}")
        except OSError:
            return found
        return found

    def _raw(place: str, name: str) -> object:
        """Return a value as the registry has it, of whatever kind; None for none."""
        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, place) as key:
                return winreg.QueryValueEx(key, name)[0]
        except OSError:
            return None

    def _value(place: str, name: str) -> str:
        value = _raw(place, name)
        return "" if value is None else str(value)
