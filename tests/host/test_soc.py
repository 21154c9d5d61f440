"""Chips and drivers as reports from real machines tell them: the right names, the right advice."""

from __future__ import annotations

import hashlib

import pytest

from app.engine.discovery import Backend, Found
from app.engine.probe import Device, Runtime
from app.host.signature import NpuCode, Signature, npu_code, signature_of
from app.host.soc import Driver, Facts, Pieces, advice, soc_of
from app.host.system_facts import core_classes, driver_of, drivers_linux, has_npu_library, system_facts

ELITE = "Snapdragon(R) X Elite - X1E78100 - Qualcomm(R) Oryon(TM) CPU"
PLUS_8 = "Snapdragon(R) X Plus - X1P42100 - Qualcomm(R) Oryon(TM) CPU"
X2_ELITE = "Snapdragon(R) X2 Elite - X2E80100 - Qualcomm Oryon(TM) CPU"
X2_EXTREME = "Snapdragon(R) X2 Elite Extreme - X2E94100 - Qualcomm Oryon(TM) CPU"
X2_PLUS = "Snapdragon(R) X2 Plus - X2P42100 - Qualcomm Oryon(TM) CPU"

MACHINES = [
    (ELITE, (12,), "Snapdragon X Elite", "12 cores", "Adreno X1-85", 73, 135),
    ("Snapdragon(R) X Plus - X1P64100 - Qualcomm(R) Oryon(TM) CPU", (10,), "Snapdragon X Plus", "10 cores",
     "Adreno X1-85", 73, 135),
    (PLUS_8, (8,), "Snapdragon X Plus 8-core", "8 cores", "Adreno X1-45", 73, 135),
    ("Snapdragon(R) X - X126100 - Qualcomm(R) Oryon(TM) CPU", (8,), "Snapdragon X", "8 cores", "Adreno X1-45", 73, 135),
    (X2_ELITE, (6, 6), "Snapdragon X2 Elite", "12 cores (6 + 6)", "Adreno X2-85", 81, 152),
    ("Snapdragon(R) X2 Elite X2E-88-100", (12, 6), "Snapdragon X2 Elite", "18 cores (12 + 6)", "Adreno X2-90", 81, 152),
    (X2_PLUS, (6,), "Snapdragon X2 Plus", "6 cores", "Adreno X2-45", 81, 152),
]  # fmt: skip


@pytest.mark.parametrize(("processor", "classes", "name", "cores", "gpu", "npu", "bandwidth"), MACHINES)
def test_snapdragons_are_known_by_name(processor, classes, name, cores, gpu, npu, bandwidth):
    soc = soc_of(Facts(processor, "Windows", classes))
    assert (soc.name, soc.cores, soc.gpu, soc.npu_version, soc.bandwidth_gb_s) == (name, cores, gpu, npu, bandwidth)
    assert soc.part.startswith(("X1", "X2"))


def test_the_extreme_keeps_its_own_name():
    assert soc_of(Facts(X2_EXTREME, "Windows", (12, 6))).name == "Snapdragon X2 Elite Extreme"


@pytest.mark.parametrize(
    "processor", ["12th Gen Intel(R) Core(TM) i7-1260P", "AMD Ryzen AI 9 HX 370", "Snapdragon (TM) 8cx @ 2.84 GHz", ""]
)
def test_others_keep_their_name_and_get_no_advice_about_an_npu(processor):
    facts = Facts(processor, "Windows", (4, 8))
    soc = soc_of(facts)
    assert (soc.npu_version, soc.part, soc.gpu) == (0, "", "")
    assert advice(facts, soc, Pieces()) == ()


def signed(state="trusted", *, is_own=False) -> NpuCode:
    return NpuCode(("libggml-htp-v73.so", "libggml-htp-v81.so"), (), Signature(state, "Ada", is_own))


# --- advice -----------------------------------------------------------------------------------------


def drivers(processor: str) -> tuple[Driver, ...]:
    chip = processor.partition(" - Qualcomm")[0]
    gpu = "Qualcomm(R) Adreno(TM) X1-85 GPU" if "X1" in processor else "Qualcomm(R) Adreno(TM) X2-85 GPU"
    return (
        Driver("gpu", gpu, "31.0.112.0"),
        Driver("npu", f"{chip} - Qualcomm(R) Hexagon(TM) NPU", "30.0.219.1000"),
    )


def said(processor, pieces=None, **facts) -> str:
    told = Facts(**{"processor": processor, "system": "Windows", "drivers": drivers(processor)} | facts)
    return "\n".join(advice(told, soc_of(told), pieces or Pieces(("cpu",))))


@pytest.mark.parametrize("processor", [ELITE, PLUS_8, X2_ELITE, X2_PLUS])
class TestAdvice:
    def test_without_drivers_it_is_to_get_them(self, processor):
        words = said(processor, drivers=())
        assert "No driver for the Adreno" in words
        assert "No driver for the Hexagon NPU" in words
        assert "runtime" not in words

    def test_with_drivers_and_the_built_in_runtime_it_is_to_add_one(self, processor):
        words = said(processor)
        assert "needs a runtime with OpenCL" in words
        assert "needs a runtime with Hexagon code" in words
        assert "driver" not in words

    def test_with_opencl_only_the_npu_is_left(self, processor):
        words = said(processor, Pieces(("cpu", "opencl"), is_built_in=False))
        assert "OpenCL" not in words
        assert "Hexagon" in words

    def test_code_for_another_generation_is_named(self, processor):
        mine, other = (73, 81) if "X1" in processor else (81, 73)
        words = said(processor, Pieces(("hexagon", "opencl"), (other,), signed()))
        assert f"v{mine}; it has v{other}" in words

    def test_code_without_a_signed_catalogue_is_named(self, processor):
        both = (73, 81)
        assert "libggml-htp.cat" in said(processor, Pieces(("hexagon", "opencl"), both))
        unknown = Pieces(("hexagon", "opencl"), both, signed("unknown"))
        assert "test mode" in said(processor, unknown, is_test_mode=False)
        assert said(processor, unknown, is_test_mode=True) == ""
        assert said(processor, Pieces(("hexagon", "opencl"), both, signed()), is_test_mode=False) == ""

    @pytest.mark.parametrize(
        ("state", "is_own", "is_test_mode", "words"),
        [
            ("none", False, False, "is not signed"),
            ("altered", False, False, "was changed after it was signed by Ada"),
            ("not trusted", False, False, "does not trust the certificate"),
            ("not trusted", True, False, "bcdedit /set TESTSIGNING ON"),
            ("not trusted", True, True, "Trusted Root and Trusted Publishers, and start"),
        ],
    )
    def test_what_is_wrong_with_a_signature_is_explained(self, processor, state, is_own, is_test_mode, words):
        pieces = Pieces(("hexagon", "opencl"), (73, 81), signed(state, is_own=is_own))
        assert words in said(processor, pieces, is_test_mode=is_test_mode)

    def test_files_that_the_catalogue_does_not_name_are_told(self, processor):
        code = NpuCode(("libggml-htp-v73.so",), ("libggml-htp-v73.so",), Signature("trusted"))
        assert "does not name libggml-htp-v73.so" in said(processor, Pieces(("hexagon", "opencl"), (73, 81), code))

    def test_a_driver_without_its_library_is_to_be_installed_again(self, processor):
        words = said(processor, Pieces(("hexagon", "opencl"), (73, 81), signed()), has_npu_library=False)
        assert "libcdsprpc.dll" in words


QUALCOMM = {
    "DriverDesc": "Snapdragon(R) X Elite - X1E78100 - Qualcomm(R) Adreno(TM) GPU",
    "DriverVersion": "31.0.112.0",
    "DriverDate": "7-1-2025",
    "InfPath": "oem12.inf",
    "ProviderName": "Qualcomm Technologies, Inc.",
}


@pytest.mark.parametrize(
    ("values", "driver"),
    [
        (QUALCOMM, Driver("gpu", QUALCOMM["DriverDesc"], "31.0.112.0", "7-1-2025", "oem12.inf")),
        ({"DriverDesc": "Qualcomm(R) Adreno(TM) GPU"}, Driver("gpu", "Qualcomm(R) Adreno(TM) GPU", "")),
        ({"DriverDesc": "Adreno\0rest", "DriverVersion": 31, "DriverDate": None}, Driver("gpu", "Adreno", "31")),
        ({"DriverDesc": "Adreno", "DriverVersion": ["31.0", "x"]}, Driver("gpu", "Adreno", "['31.0', 'x']")),
        ({"DriverVersion": "1"}, None),
        ({"DriverDesc": ""}, None),
        ({}, None),
        ({"DriverDesc": "Microsoft Basic Display Adapter", "ProviderName": "Microsoft"}, None),
        ({"DriverDesc": "Microsoft-Basisanzeigeadapter", "ProviderName": "Microsoft"}, None),
        ({"DriverDesc": "Carte vid\xe9o de base Microsoft", "ProviderName": "Microsoft"}, None),
        ({"DriverDesc": "Remotedesktop-Anzeigeadapter", "ProviderName": "Microsoft"}, None),
    ],
)
def test_what_the_registry_tells_of_a_driver_is_understood_in_any_language(values, driver):
    assert driver_of("gpu", values) == driver


@pytest.mark.parametrize("other", ["Parsec Virtual Display Adapter", "DisplayLink USB Device", "VMware SVGA 3D"])
def test_an_adapter_of_somebody_else_does_not_stand_for_the_driver_of_the_chip(other):
    assert "No driver for the Adreno" in said(ELITE, drivers=(Driver("gpu", other, "1"), drivers(ELITE)[1]))


def test_linux_asks_for_no_driver_of_windows_and_no_catalogue():
    pieces = Pieces(("hexagon", "opencl"), (73,))
    assert said(ELITE, pieces, system="Linux", drivers=()) == ""


def found(**backend) -> Found:
    cpu = Device("CPU", "cpu", "Oryon", "CPU", 1, 1)
    runtime = Runtime("0.3.36", "0.5.0-dev", "0.25.3", "0c1e570", "CPU :", "", (cpu,))
    return Found(runtime, (Backend(**backend),))


def test_a_driver_that_ends_whoever_lists_its_devices_is_to_be_updated():
    facts = Facts(ELITE, "Windows", drivers=drivers(ELITE))
    reason = "Loading opencl ended the process that did it: it stopped itself at once [0xC0000409]."
    first, *_ = advice(facts, soc_of(facts), Pieces(("opencl",)), found(name="opencl", state="died", reason=reason))
    assert first.startswith("The opencl backend ended the process that loaded it")
    assert "0xC0000409" in first
    assert "Update the driver" in first


# --- signatures -------------------------------------------------------------------------------------


def test_a_catalogue_names_files_by_their_hash_and_windows_is_asked_who_signed_it(tmp_path):
    one, other = tmp_path / "libggml-htp-v73.so", tmp_path / "libggml-htp-v81.so"
    one.write_bytes(b"code for v73")
    other.write_bytes(b"code for v81")
    assert npu_code(tmp_path) == NpuCode((one.name, other.name))
    catalogue = tmp_path / "libggml-htp.cat"
    named = hashlib.sha256(one.read_bytes()).digest()
    catalogue.write_bytes(b"\x30\x82" + named + b"\0" * 40)
    asked = []

    def ask(path):
        asked.append(path)
        return Signature("trusted", "A Company")

    code = npu_code(tmp_path, ask)
    assert (code.unnamed, code.signature, asked) == ((other.name,), Signature("trusted", "A Company"), [catalogue])
    tag = hashlib.sha1(other.read_bytes(), usedforsecurity=False).hexdigest().upper().encode("utf-16-le")
    catalogue.write_bytes(catalogue.read_bytes() + tag)
    assert npu_code(tmp_path, ask).unnamed == ()
    one.write_bytes(b"another build")
    assert npu_code(tmp_path, ask).unnamed == (one.name,)
    assert npu_code(tmp_path).signature == Signature()  # here nobody can be asked


@pytest.mark.parametrize(
    ("words", "signature"),
    [
        (
            b'{"status":"Valid","subject":"CN=Qualcomm, O=Q","issuer":"CN=Microsoft"}\r\n',
            Signature("trusted", "Qualcomm"),
        ),
        (b'{"status":"UnknownError","subject":"CN=me","issuer":"CN=me"}', Signature("not trusted", "me", is_own=True)),
        (b'{"status":"HashMismatch","subject":"CN=x","issuer":"CN=y"}', Signature("altered", "x")),
        (b'{"status":"NotSigned","subject":"","issuer":""}', Signature("none")),
        (b'{"status":"Incompatible"}', Signature()),
        (b"Get-AuthenticodeSignature : not there", Signature()),
        (b"", Signature()),
    ],
)
def test_what_windows_says_of_a_signature_is_understood(words, signature):
    assert signature_of(words) == signature


def test_the_driver_store_is_looked_into(tmp_path):
    store = tmp_path / "System32" / "DriverStore" / "FileRepository" / "qcnspmcdm8380.inf_arm64_1"
    store.mkdir(parents=True)
    inside = r"System32\DriverStore\FileRepository\qcnspmcdm8380.inf_arm64_1\qcnspmcdm8380.sys"
    for service in (rf"\SystemRoot\{inside}", inside):
        assert has_npu_library(service, str(tmp_path)) is False
    assert has_npu_library("", str(tmp_path)) is None
    (store / "libcdsprpc.dll").touch()
    for service in (rf"\SystemRoot\{inside}", inside, f'"{store}/qcnspmcdm8380.sys"'):
        assert has_npu_library(service, str(tmp_path)) is True


# --- this machine -----------------------------------------------------------------------------------


def test_core_classes_are_counted_fastest_first(tmp_path):
    for cpu, capacity in enumerate([1024] * 6 + [600] * 4):
        (tmp_path / f"cpu{cpu}").mkdir()
        (tmp_path / f"cpu{cpu}" / "cpu_capacity").write_text(f"{capacity}\n")
    (tmp_path / "cpufreq").mkdir()
    assert core_classes(tmp_path) == (6, 4)
    assert core_classes(tmp_path / "none") == ()


def test_kernel_drivers_are_found(tmp_path):
    (tmp_path / "drivers" / "msm").mkdir(parents=True)
    (tmp_path / "class" / "drm" / "card0" / "device").mkdir(parents=True)
    (tmp_path / "class" / "drm" / "card0" / "device" / "driver").symlink_to(tmp_path / "drivers" / "msm")
    (driver,) = drivers_linux(tmp_path)
    assert (driver.kind, driver.device) == ("gpu", "msm")
    assert driver.version


def test_this_machine_tells_its_processor():
    facts = system_facts()
    assert facts.processor
    assert sum(facts.core_classes) > 0
