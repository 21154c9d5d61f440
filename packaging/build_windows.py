"""Build bundle and installer for Windows on ARM64, on such a machine. *Untried*: nobody here has one.

    py packaging/build_windows.py --python python-3.13.x-embed-arm64.zip [--out DIR] [--wheels DIR]
                                  [--without-starter] [--without-opencl] [--update-feed URL --update-key KEY]

It needs ``packaging/requirements.txt``, LLVM (clang, llvm-rc), Visual Studio's C++ build tools, CMake, Ninja, Inno
Setup 6, and the embeddable package of Python for ARM64 from python.org; its ``python.exe`` must bear the signature of
the Python Software Foundation, which is checked. For the OpenCL runtime, the OpenCL headers and loader as llama.cpp's
own documentation says; ``--without-opencl`` leaves it out.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from bundle import archive, finish, icons, wheels
from bundle.components import Part
from bundle.project import PACKAGES, PACKAGING, PYTHON, ROOT, project, version

PLATFORM = "win_arm64"
SIGNER = "Python Software Foundation"
ARM = "armv8.7-a+dotprod+i8mm"
CMAKE = (
    *("-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++"),
    *("-DGGML_NATIVE=OFF", f"-DGGML_CPU_ARM_ARCH={ARM}", "-DGGML_OPENMP=OFF"),
)
"""Without an architecture named, clang takes baseline ARMv8: a quarter of the speed. With OpenMP, ggml ignores its own
thread pool, which MTP needs."""

OPENCL = (*CMAKE, "-DBUILD_SHARED_LIBS=ON", "-DGGML_BACKEND_DL=ON", "-DGGML_OPENCL=ON")
NO_PROGRAMS = tuple(f"-DLLAMA_BUILD_{part}=OFF" for part in ("TESTS", "EXAMPLES", "SERVER", "UI"))

Run = Callable[[Sequence[str]], str]


def run(command: Sequence[str]) -> str:
    """Run a tool; return what it said.

    Raises:
        SystemExit: it is not there, or failed.
    """
    try:
        done = subprocess.run(list(command), check=False, stdout=subprocess.PIPE, text=True)
    except FileNotFoundError as fault:
        raise SystemExit(f"{command[0]} is not installed, or not on the path") from fault
    if done.returncode:
        raise SystemExit(f"{command[0]} failed with {done.returncode}: {' '.join(command)}")
    return done.stdout


@dataclass(frozen=True, slots=True)
class Builder:
    """The steps. ``run`` starts the tools: the one seam, for tests without them."""

    root: Path
    work: Path
    run: Run = run

    def unpack_python(self, package: Path) -> str:
        """Unpack the embeddable Python and let it see the bundle's packages; return its version, as 3.13.

        Raises:
            SystemExit: it is not what it should be.
        """
        home = self.root / PYTHON
        with zipfile.ZipFile(package) as packed:
            packed.extractall(home)  # noqa: S202 - a zip of ours to name; zipfile keeps it inside
        paths = next(iter(home.glob("python3*._pth")), None)
        if paths is None or not (home / "pythonw.exe").is_file():
            raise SystemExit(f"{package.name} is not the embeddable package of Python")
        self._check_signature(home / "python.exe")
        digits = re.fullmatch(r"python3(\d+)", paths.stem)
        if digits is None:
            raise SystemExit(f"{paths.name} names no version")
        paths.write_text(f"{paths.stem}.zip\n.\n..\\{PACKAGES}\n", encoding="utf-8")
        return f"3.{digits[1]}"

    def _check_signature(self, program: Path) -> None:
        question = (
            f"$s = Get-AuthenticodeSignature -LiteralPath '{str(program).replace(chr(39), chr(39) * 2)}';"
            " $s.Status; $s.SignerCertificate.GetNameInfo('SimpleName', $false)"
        )
        told = self.run(["powershell", "-NoProfile", "-NonInteractive", "-Command", question]).split("\n")
        if [line.strip() for line in told if line.strip()] != ["Valid", SIGNER]:
            raise SystemExit(f"python.exe is not signed by the {SIGNER}: {' '.join(told).strip()}")

    def share_runtime(self) -> None:
        """Put the C++ runtime that Qt's package brings beside the interpreter, where Windows looks first.

        Windows itself has none, and the process of the engine, which needs it, does not know of Qt's folder.

        Raises:
            SystemExit: Qt's package brings none.
        """
        found = sorted((self.root / PACKAGES / "PySide6").glob("msvcp140*.dll"))
        if "msvcp140.dll" not in {path.name for path in found}:
            raise SystemExit("PySide6 brings no msvcp140.dll, which the engine needs")
        for path in found:
            shutil.copy2(path, self.root / PYTHON / path.name)

    def build_engine(self, folder: Path) -> None:
        """Compile llama-cpp-python with clang, unless its wheel is there."""
        if any(folder.glob("llama_cpp_python-*.whl")):
            return
        os.environ["CMAKE_ARGS"] = " ".join((*CMAKE, "-DLLAVA_BUILD=OFF"))  # pictures and sound are left out
        flags = ("--no-deps", "--no-binary", "llama-cpp-python", "--no-cache-dir", "--wheel-dir", str(folder))
        self.run([sys.executable, "-m", "pip", "wheel", *flags, engine_pin()])

    def build_opencl(self) -> None:
        """Compile llama.cpp, of the very source that llama-cpp-python brings, as a runtime of its own with OpenCL."""
        flags = ("--no-deps", "--no-binary", "llama-cpp-python", "--dest", str(self.work))
        self.run([sys.executable, "-m", "pip", "download", *flags, engine_pin()])
        with tarfile.open(next(self.work.glob("llama_cpp_python-*.tar.gz"))) as packed:
            packed.extractall(self.work, filter="data")
        source = next(self.work.glob("llama_cpp_python-*/vendor/llama.cpp"))
        made = self.work / "opencl"
        self.run(["cmake", "-S", str(source), "-B", str(made), *OPENCL, *NO_PROGRAMS])
        self.run(["cmake", "--build", str(made), "--target", "llama", "ggml-cpu", "ggml-opencl"])
        runtime = self.root / "runtimes" / "opencl"
        runtime.mkdir(parents=True)
        for library in sorted((made / "bin").glob("*.dll")):
            shutil.copy2(library, runtime / library.name)

    def build_launchers(self) -> None:
        """Compile the launcher twice, without and with a console, with icon and version."""
        icon = self.root / "slipstream.ico"
        icon.write_bytes(icons.ico())
        shutil.copy2(icon, self.work / icon.name)
        text = (PACKAGING / "windows" / "launcher.rc.in").read_text(encoding="utf-8")
        number = version()
        commas = ",".join([*number.split("."), "0", "0", "0"][:4])
        script = self.work / "launcher.rc"
        script.write_text(text.replace("@VERSION@", number).replace("@COMMAS@", commas), encoding="utf-8")
        resources = self.work / "launcher.res"
        self.run(["llvm-rc", "/fo", str(resources), str(script)])
        common = ["clang", "--target=aarch64-pc-windows-msvc", "-O2", "-Wall", "-Wextra", "-D_CRT_SECURE_NO_WARNINGS"]
        libraries = [str(PACKAGING / "windows" / "launcher.c"), str(resources), "-fuse-ld=lld", "-luser32"]
        window = ["-Wl,/subsystem:windows", "-o", str(self.root / "slipstream.exe")]
        console = ["-DCONSOLE", "-Wl,/subsystem:console", "-o", str(self.root / "slipstream-cli.exe")]
        self.run([*common, *libraries, *window])
        self.run([*common, *libraries, *console])

    def build_installer(self, out: Path) -> Path:
        """Let Inno Setup make the installer; return its path."""
        defines = [f"/DAppVersion={version()}", f"/DBundle={self.root}", f"/DOutput={out}"]
        self.run(["iscc", "/Qp", *defines, str(PACKAGING / "windows" / "slipstream.iss")])
        return out / f"slipstream-{version()}-windows-arm64-setup.exe"


def engine_pin() -> str:
    """Return the requirement that names llama-cpp-python."""
    return next(str(line) for line in project()["dependencies"] if line.startswith("llama-cpp-python"))


def interpreter(home: Path, number: str) -> Part:
    """Return the embeddable Python as a component."""
    text = home / "LICENSE.txt"
    return Part("Python", number, "PSF-2.0", "interpreter", (text,), "https://www.python.org/downloads/windows/")


def lay_out(builder: Builder, wheel_folder: Path, number: str, *, with_starter: bool) -> dict[str, str]:
    """Install the packages for the bundle's interpreter and leave out what is not used; return the wheels' hashes."""
    own = wheels.build_own(builder.work)
    target = wheels.Target(PLATFORM, number)
    hashes = wheels.install(builder.root / PACKAGES, own, wheel_folder, target, with_starter=with_starter)
    finish.trim(builder.root, "windows")
    builder.share_runtime()
    return hashes


def build(options: argparse.Namespace, work: Path) -> None:
    """Build everything."""
    root: Path = options.out / f"slipstream-{version()}-windows-arm64"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    builder = Builder(root, work)
    wheel_folder: Path = options.wheels or options.out / "wheels"
    wheel_folder.mkdir(parents=True, exist_ok=True)
    number = builder.unpack_python(options.python)
    builder.build_engine(wheel_folder)
    hashes = lay_out(builder, wheel_folder, number, with_starter=not options.without_starter)
    if not options.without_opencl:
        builder.build_opencl()
    builder.build_launchers()
    finish.describe(root, hashes, [interpreter(root / PYTHON, number)])
    updates = {"feed": options.update_feed, "key": options.update_key} if options.update_feed else {}
    finish.mark(root, "windows-arm64", updates)
    shutil.copyfile(ROOT / "LICENSE", root / "LICENSE.txt")
    finish.compile_all(root, root / PYTHON / "python.exe")
    finish.check_size(root)
    run([str(root / "slipstream-cli.exe"), "--version"])
    installer = builder.build_installer(options.out)
    archive.write_hashes([installer, archive.bom_beside(root)], options.out / f"{root.name}.sha256")
    print(f"{installer}: {installer.stat().st_size / 1e6:.1f} MB")


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Build bundle and installer for Windows on ARM64.")
    parser.add_argument("--python", type=Path, required=True, help="embeddable package of Python for ARM64")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where to (default: dist)")
    parser.add_argument("--wheels", type=Path, help="folder with a wheel of llama-cpp-python; made there if missing")
    parser.add_argument("--without-starter", action="store_true", help="leave out the starter model")
    parser.add_argument("--without-opencl", action="store_true", help="leave out the runtime for Adreno GPUs")
    parser.add_argument("--update-feed", default="", help="address where newer versions are announced")
    parser.add_argument("--update-key", default="", help="public key (Ed25519, base64) that signs what is announced")
    return parser.parse_args(argv)


def main() -> int:
    """Build; return the exit code."""
    options = parse()
    if sys.platform != "win32":
        raise SystemExit("this builds on Windows on ARM64 only")
    if bool(options.update_feed) != bool(options.update_key):
        raise SystemExit("--update-feed and --update-key go together")
    with tempfile.TemporaryDirectory() as work:
        build(options, Path(work))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
