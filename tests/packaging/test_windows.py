"""The Windows build, as far as it can be tried elsewhere: Python parts with a fake toolchain, scripts parsed."""

import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import build_windows
import pytest
from build_windows import SIGNER, Builder, parse
from bundle import compiled_in, components
from bundle.project import PACKAGING, ROOT, version

from tests.packaging.pe import imports


class Toolchain:
    """Stands in for clang, llvm-rc, PowerShell and Inno Setup: notes what it is asked for and makes what they would."""

    def __init__(self, signature=("Valid", SIGNER)):
        self.signature, self.asked = signature, []

    def __call__(self, command):
        self.asked.append(list(command))
        if command[0] == "powershell":
            return "\r\n".join([*self.signature, ""])
        return ""

    def named(self, name):
        return [command for command in self.asked if command[0] == name]


def embeddable(tmp_path, *names):
    package = tmp_path / "python-embed.zip"
    with zipfile.ZipFile(package, "w") as packed:
        for name in names or ("python.exe", "pythonw.exe", "python313._pth", "python313.zip", "LICENSE.txt"):
            packed.writestr(name, "python313.zip\n.\n#import site\n" if name.endswith("_pth") else "x")
    return package


@pytest.fixture
def builder(tmp_path):
    root, work = tmp_path / "Slip stream ü", tmp_path / "work"
    root.mkdir()
    work.mkdir()
    return Builder(root, work, Toolchain())


def test_the_embeddable_python_sees_the_bundle_and_nothing_else(builder, tmp_path):
    assert builder.unpack_python(embeddable(tmp_path)) == "3.13"
    paths = (builder.root / "python" / "python313._pth").read_text(encoding="utf-8")
    assert paths.splitlines() == ["python313.zip", ".", "..\\site-packages"]
    (question,) = builder.run.named("powershell")
    assert str(builder.root / "python" / "python.exe") in question[-1]


@pytest.mark.parametrize("signature", [("NotSigned", ""), ("Valid", "Somebody Else"), ("HashMismatch", SIGNER)])
def test_a_python_of_somebody_else_is_refused(builder, tmp_path, signature):
    builder.run.signature = signature
    with pytest.raises(SystemExit, match="not signed"):
        builder.unpack_python(embeddable(tmp_path))


def test_a_package_that_is_no_embeddable_python_is_refused(builder, tmp_path):
    with pytest.raises(SystemExit, match="not the embeddable package"):
        builder.unpack_python(embeddable(tmp_path, "python.exe"))


def test_the_engine_is_compiled_for_snapdragon_unless_its_wheel_is_there(builder, tmp_path, monkeypatch):
    monkeypatch.delenv("CMAKE_ARGS", raising=False)
    builder.build_engine(tmp_path)
    (asked,) = builder.run.asked
    assert asked[-1].startswith("llama-cpp-python==")
    flags = build_windows.os.environ["CMAKE_ARGS"]
    for wanted in ("-DCMAKE_C_COMPILER=clang", "-DGGML_NATIVE=OFF", "dotprod", "i8mm", "-DGGML_OPENMP=OFF"):
        assert wanted in flags
    (tmp_path / "llama_cpp_python-0.3.36-cp313-cp313-win_arm64.whl").touch()
    builder.build_engine(tmp_path)
    assert len(builder.run.asked) == 1


def test_the_runtime_for_adreno_is_compiled_from_the_source_that_the_engine_is_compiled_from(builder):
    # GIVEN tools that leave what pip and CMake would
    made = builder.work / "opencl" / "bin"

    def tools(command):
        builder.run.asked.append(list(command))
        if "download" in command:
            with tarfile.open(builder.work / "llama_cpp_python-0.3.36.tar.gz", "w:gz") as packed:
                source = tarfile.TarInfo("llama_cpp_python-0.3.36/vendor/llama.cpp/CMakeLists.txt")
                packed.addfile(source)
        elif "--build" in command:
            made.mkdir(parents=True)
            for name in ("llama.dll", "ggml-opencl.dll", "ggml-opencl.lib"):
                (made / name).write_text(name)
        return ""

    # WHEN the runtime is built
    Builder(builder.root, builder.work, tools).build_opencl()
    # THEN it is configured from the pinned source, with backends as libraries of their own
    download, configure, _ = builder.run.asked
    assert download[-1] == build_windows.engine_pin()
    assert {"-DGGML_OPENCL=ON", "-DGGML_BACKEND_DL=ON", "-DGGML_OPENMP=OFF"} <= set(configure)
    assert (Path(configure[configure.index("-S") + 1]) / "CMakeLists.txt").is_file()
    # AND its libraries, nothing else, are in a folder of the bundle
    assert {path.name for path in (builder.root / "runtimes" / "opencl").iterdir()} == {"llama.dll", "ggml-opencl.dll"}


def test_the_engine_finds_the_cpp_runtime_beside_the_interpreter(builder):
    # GIVEN Qt's package, which brings Microsoft's runtime: a machine need not have it
    qt = builder.root / "site-packages" / "PySide6"
    qt.mkdir(parents=True)
    (builder.root / "python").mkdir()
    for name in ("msvcp140.dll", "msvcp140_1.dll", "Qt6Core.dll"):
        (qt / name).write_text(name)
    # WHEN it is shared, THEN processes that know nothing of Qt find it where Windows looks first
    builder.share_runtime()
    assert {path.name for path in (builder.root / "python").iterdir()} == {"msvcp140.dll", "msvcp140_1.dll"}


def test_a_bundle_without_the_cpp_runtime_is_not_built(builder):
    with pytest.raises(SystemExit, match=r"msvcp140\.dll"):
        builder.share_runtime()


def test_launchers_get_icon_and_version_and_one_of_them_a_console(builder, qapp):
    builder.build_launchers()
    script = (builder.work / "launcher.rc").read_text(encoding="utf-8")
    assert f'VALUE "ProductVersion", "{version()}"' in script
    assert re.search(r"^FILEVERSION \d+,\d+,\d+,\d+$", script, re.MULTILINE)
    assert "@" not in script
    assert (builder.work / "slipstream.ico").read_bytes()[:4] == b"\0\0\1\0"
    window, console = builder.run.named("clang")
    assert "-DCONSOLE" in console
    assert "-DCONSOLE" not in window
    assert str(builder.root / "slipstream.exe") in window
    assert str(builder.root / "slipstream-cli.exe") in console


def test_the_installer_gets_version_and_folders(builder, tmp_path):
    made = builder.build_installer(tmp_path)
    (asked,) = builder.run.named("iscc")
    assert f"/DAppVersion={version()}" in asked
    assert f"/DBundle={builder.root}" in asked
    assert made.name == f"slipstream-{version()}-windows-arm64-setup.exe"


def test_it_says_so_on_other_systems(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.argv", ["build_windows.py", "--python", str(tmp_path / "x.zip")])
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(SystemExit, match="Windows on ARM64 only"):
        build_windows.main()


def test_a_tool_that_is_not_there_is_named():
    with pytest.raises(SystemExit, match="slipstream-no-such-tool is not installed"):
        build_windows.run(["slipstream-no-such-tool"])


def test_options_have_sound_defaults(tmp_path):
    options = parse(["--python", str(tmp_path)])
    assert options.out == ROOT / "dist"
    assert not options.without_starter


# --- the installer's script ---------------------------------------------------------------------------

SECTIONS = {"Setup", "Languages", "Tasks", "InstallDelete", "Files", "Icons", "Registry", "Run", "Code"}
PARAMETERS = {
    "Languages": {"Name", "MessagesFile"},
    "Tasks": {"Name", "Description", "GroupDescription", "Flags"},
    "InstallDelete": {"Type", "Name"},
    "Files": {"Source", "DestDir", "Flags"},
    "Icons": {"Name", "Filename", "AppUserModelID", "Tasks"},
    "Registry": {"Root", "Subkey", "ValueType", "ValueName", "ValueData", "Flags", "Tasks"},
    "Run": {"Filename", "Description", "Flags"},
}


@pytest.fixture(scope="module")
def script():
    """Return the lines of each section of the installer's script."""
    sections, current = {}, None
    for line in (PACKAGING / "windows" / "slipstream.iss").read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"\[(\w+)\]", line):
            current = sections.setdefault(match[1], [])
        elif current is not None and line.strip() and not line.startswith(";"):
            current.append(line)
    return sections


def entries(script, section):
    """Return the entries of a section, each as its parameters."""
    found = []
    for line in script[section]:
        rest, entry = line, {}
        while rest:
            match = re.match(r'(\w+): ("(?:[^"]|"")*"|[^;"]+)(?:; |$)', rest)
            assert match, f"cannot be read: {rest}"
            entry[match[1]] = match[2].strip('"') if match[2].startswith('"') else match[2]
            rest = rest[match.end() :]
        found.append(entry)
    return found


def test_the_script_has_known_sections_and_parameters_only(script):
    assert script.keys() == SECTIONS
    for section, known in PARAMETERS.items():
        for entry in entries(script, section):
            assert entry.keys() <= known, entry


def test_it_installs_for_one_person_on_arm64(script):
    setup = dict(line.split("=", 1) for line in script["Setup"])
    assert setup["PrivilegesRequired"] == "lowest"
    assert setup["ArchitecturesAllowed"] == setup["ArchitecturesInstallIn64BitMode"] == "arm64"
    assert re.fullmatch(r"\{\{[0-9A-F-]{36}\}", setup["AppId"])


def test_an_upgrade_deletes_only_what_a_bundle_fills(script):
    deleted = {entry["Name"] for entry in entries(script, "InstallDelete")}
    assert deleted == {rf"{{app}}\{name}" for name in ("python", "site-packages", "licences", "runtimes")}


def test_only_the_uninstaller_touches_data_and_it_asks_with_no_as_the_answer(script):
    outside = [line for name, lines in script.items() if name != "Code" for line in lines if "localappdata" in line]
    assert outside == []
    code = "\n".join(script["Code"])
    assert code.count("DelTree") == 1
    assert re.search(r"SuppressibleMsgBox\([^)]*MB_DEFBUTTON2, IDNO\) = IDYES then\s+DelTree", code)
    assert code.count("begin") == len(re.findall(r"\bend;", code))


def test_files_are_associated_only_where_that_is_wanted(script):
    assert {entry["Tasks"] for entry in entries(script, "Registry")} == {"associate"}
    (task,) = [entry for entry in entries(script, "Tasks") if entry["Name"] == "associate"]
    assert task["Flags"] == "unchecked"


# --- the launcher -------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.linux
@pytest.mark.parametrize("define", [[], ["-DCONSOLE"]])
def test_the_launcher_compiles(tmp_path, define):
    compiler = shutil.which("x86_64-w64-mingw32-gcc")
    assert compiler, "install gcc-mingw-w64-x86-64"
    source = PACKAGING / "windows" / "launcher.c"
    words = [compiler, "-municode", "-Wall", "-Wextra", "-Werror", *define, "-o", str(tmp_path / "x.exe"), str(source)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.exe").read_bytes()[:2] == b"MZ"


# --- wheels -------------------------------------------------------------------------------------------


@pytest.mark.full
@pytest.mark.network
def test_every_wheel_but_the_engines_resolves_for_windows_on_arm64(tmp_path):
    from bundle.project import requirements
    from bundle.wheels import Target, resolve

    names = [line for line in requirements() if not line.startswith("llama-cpp-python")]
    target = Target("win_arm64", "3.13")
    chosen = resolve(names, target, tmp_path / "report.json")
    assert {"pyside6-essentials", "numpy", "msgspec", "cryptography", "psutil", "hf-xet"} <= chosen.keys()
    with pytest.raises(SystemExit, match="pip failed"):
        resolve(["llama-cpp-python==0.3.36"], target, tmp_path / "report.json")


SYSTEM = re.compile(
    r"(api-ms-win-.*|ext-ms-.*|(advapi32|authz|bcrypt|comdlg32|crypt32|d2d1|d3d1[12]|d3d9|dnsapi|dwmapi|dwrite|dxgi|gdi32|"
    r"imm32|iphlpapi|kernel32|mpr|msvcrt|ncrypt|netapi32|normaliz|ntdll|ole32|oleaut32|pdh|powrprof|propsys|psapi|rpcrt4|"
    r"secur32|setupapi|shcore|shell32|shlwapi|ucrtbase|user32|userenv|uxtheme|version|winmm|winspool|wintrust|wldap32|"
    r"ws2_32|wtsapi32|uiautomationcore|icuuc|icuin|icu|winhttp|wininet|dhcpcsvc|bcryptprimitives|cfgmgr32|mscms)\.(dll|drv))",
    re.IGNORECASE,
)
"""What Windows 11 itself has."""


def engine_wheel(folder):
    """Make a wheel in the place of the engine's, which cannot be compiled here."""
    about = "llama_cpp_python-0.3.36.dist-info"
    contents = {
        "llama_cpp/__init__.py": "",
        "llama_cpp/server/app.py": "",
        "llama_cpp/lib/llama.dll": "MZ",
        "llama_cpp/lib/mtmd.dll": "MZ",
        f"{about}/METADATA": "Metadata-Version: 2.4\nName: llama_cpp_python\nVersion: 0.3.36\n"
        "License-Expression: MIT\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-win_arm64\n",
        f"{about}/licenses/LICENSE.md": "MIT",
    }
    contents[f"{about}/RECORD"] = "".join(f"{name},,\n" for name in contents)
    with zipfile.ZipFile(folder / "llama_cpp_python-0.3.36-py3-none-win_arm64.whl", "w") as wheel:
        for name, text in contents.items():
            wheel.writestr(name, text)


@pytest.mark.full
@pytest.mark.network
@pytest.mark.linux
@pytest.mark.timeout(600)
def test_the_packages_of_the_windows_bundle_are_pruned_by_the_list_and_find_their_libraries(builder, tmp_path):
    # GIVEN the real wheels for Windows on ARM64, but for the engine's
    builder.unpack_python(embeddable(tmp_path))
    engine_wheel(tmp_path)
    # WHEN they are laid out as the build does it, which fails where a rule matches nothing
    build_windows.lay_out(builder, tmp_path, "3.13", with_starter=False)
    # THEN every native file finds what it asks for: here, or in Windows
    packages = builder.root / "site-packages"
    natives = [path for path in packages.rglob("*") if path.suffix in (".dll", ".pyd") and path.stat().st_size > 10]
    assert len(natives) > 20
    beside = {"python3.dll", "python313.dll", "vcruntime140.dll", "vcruntime140_1.dll"}  # of the embeddable package
    beside |= {path.name.lower() for path in (builder.root / "python").glob("*.dll")}
    assert "msvcp140.dll" in beside  # for llama.cpp, whose process does not know of Qt's folder
    with_qt = {path.name.lower() for path in natives if path.parent.name in ("PySide6", "shiboken6")}
    lacking = set()
    for path in natives:
        asked = {name.lower() for name in imports(path)}
        assert asked, path
        package = packages / path.relative_to(packages).parts[0]
        here = beside | {other.name.lower() for other in natives if package in other.parents}
        here |= {other.name.lower() for other in packages.glob(f"{package.name}.libs/*")}
        here |= with_qt if package.name in ("PySide6", "shiboken6") else set()
        lacking |= {(path.name, name) for name in asked - here if not SYSTEM.fullmatch(name)}
    assert lacking == set()
    # AND all licences are known and fit
    parts = components.distributions(builder.root, {})
    held = [*components.inside(builder.root, parts), *compiled_in.parts(builder.root, parts)]
    assert components.unfit([*parts, *held]) == []
    assert {"OpenSSL", "PCRE2", "FreeType", "Microsoft Visual C++ runtime"} <= {one.name for one in held}
    assert sum(path.stat().st_size for path in packages.rglob("*") if path.is_file()) < 200e6
