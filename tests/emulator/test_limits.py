"""Limits of a module, and a message for each fault that keeps it from running."""

from __future__ import annotations

import ctypes
import struct
from pathlib import Path

import pytest

from grader.sandbox.emulator.device import COPY_HEAD, LAUNCH_HEAD, RANGE, Device
from grader.sandbox.emulator.engine import Engine
from grader.sandbox.emulator.library import EngineMissing
from grader.sandbox.emulator.lower import kernel as lowering
from grader.sandbox.emulator.model import copies_seconds
from grader.sandbox.emulator.names import LARGE_BYTES, MESSAGE

HEAD = "//\n.version 8.0\n.target sm_90a\n.address_size 64\n"


def kernel(body: str, ahead: str = "", params: str = "") -> str:
    return f"{HEAD}{ahead}.visible .entry k({params})\n{{\n{body}\nret;\n}}\n"


def asked(device: Device, text: str) -> str:
    device.begin()
    status, reply = device.answer(MESSAGE.MODULE, text.encode())
    if status == 0:
        device.answer(MESSAGE.KERNEL, reply + b"k")
    returned = device.returned()
    return returned.broken or str(returned.unsupported or "") or returned.refused


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (kernel(".reg .b32 %z<2000000000>;"), "line 7: k declares 2,000,000,000 registers, and may have 65,536"),
        (kernel("", ahead="".join(
            f".func f{number}()\n{{\n.reg .b32 %r<65000>;\nret;\n}}\n" for number in range(17))),
            "the functions of a module declare 1,105,000 registers, and may have 1,048,576"),
        (kernel(".shared .b8 s[2000000000];"), "k has 2,000,000,000 bytes of shared memory, and may have 49,152"),
        (kernel(".local .b8 s[2000000000];"), "k has 2,000,000,000 bytes of local memory, and may have 524,288"),
        (kernel("", params=".param .b8 p[99999]"), "k has 99,999 bytes of parameters, and may have 32,764"),
        (kernel("", ahead=".const .b8 c[65537];\n"), "65,537 bytes of const memory, and may have 65,536"),
        (kernel("", ahead=".global .b8 g[3000000000];\n"), "3,000,000,000 bytes of global memory"),
        (kernel("", ahead=".global .b8 g[2] = {1, 2, 3};\n"), "line 5: g has 2 bytes, and initial values of 3"),
        (kernel("", ahead=".global .align 3 .b8 g[8];\n"), "g is aligned to 3 bytes"),
        (kernel("", ahead="".join(
            f".func f{number}()\n{{\nret;\n}}\n" for number in range(8193))), "a module has at most 8,192 functions"),
        (kernel(".reg .foo %z<3>;"), "line 7: there is no type '.foo'"),
        (kernel(".reg .b32 %r<3>; add.foo %r1, %r2, %r1;"), "'add.foo' has the type '.foo', which does not exist"),
        (kernel(".reg .b32 %r<3>; add.u32 %r1, %q, %r1;"), "'add.u32' names '%q', which is neither declared"),
        (kernel(".reg .b32 %r<3>; ld.param.b32 %r1, [nothing];"), "an unknown name 'nothing'"),
        (kernel(".reg .b32 %r<3>; add.u32 %r1;"), "'add.u32' has too few operands"),
        (kernel(".reg .b32 %r<3>; shfl.sync.b32 %r1, %r2, 1, 31, -1;"), "'shfl.sync.b32' lacks an operand or a part"),
        (kernel(".reg .b32 %r<3>; prmt.foo %r1, %r2, %r1, 1;"), "'prmt.foo' has an invalid operand: 'foo' is unknown"),
    ],
)  # fmt: skip
def test_an_impossible_module_is_refused_with_a_sentence(engine: Engine, text: str, said: str) -> None:
    told = asked(Device(engine), text)
    assert said in told
    assert "Error" not in told


def test_a_kernels_number_of_instructions_is_bounded(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowering, "MOST_ROWS", 10)
    told = asked(Device(engine), kernel(".reg .b32 %r<3>;" + "add.u32 %r1, %r1, %r2;" * 20))
    assert told == "k and the functions it calls have 11 instructions; at most 10 are allowed"


def test_module_variables_use_device_memory(engine: Engine) -> None:
    device = Device(engine, memory_bytes=1000)
    large = kernel("", ahead=".global .b8 g[600];\n").encode()
    assert device.answer(MESSAGE.MODULE, large)[0] == 0
    assert device.answer(MESSAGE.MODULE, large)[0] == 2, "cudaErrorMemoryAllocation"


def test_an_internal_error_is_not_blamed_on_the_source(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("of ours")

    monkeypatch.setitem(lowering.HANDLERS, "add", broken)
    device = Device(engine)
    told = asked(device, kernel(".reg .b32 %r<3>; add.u32 %r1, %r2, %r1;"))
    assert told.startswith("Traceback")
    assert "KeyError: 'of ours'" in told
    assert device.returned().unsupported is None
    status, _ = device.answer(MESSAGE.KERNEL, struct.pack("<I", 0) + b"k")
    assert status == 999, "cudaErrorUnknown"


def test_an_unassembled_kernel_counts_all_registers(engine: Engine) -> None:
    device = Device(engine)
    device.begin(counted=True)
    status, module = device.answer(MESSAGE.MODULE, kernel("").encode())
    assert status == 0
    shape = (1, 1, 1, 32, 1, 1, 0, 0, 0)
    head = LAUNCH_HEAD.pack(struct.unpack("<I", module)[0], 1, 0, 0, *shape, 0)
    assert device.answer(MESSAGE.LAUNCH, head + b"k")[0] == 0
    assert [launch.registers for launch in device.returned().counted] == [255]


def test_host_writes_to_managed_memory_count_as_copies(engine: Engine) -> None:
    device = Device(engine)
    (address,) = struct.unpack("<Q", device.answer(MESSAGE.ALLOCATE_MANAGED, struct.pack("<QI", 64, 0))[1])
    device.begin(counted=True)
    assert device.answer(MESSAGE.PUSH, RANGE.pack(address, 64) + bytes(64))[0] == 0
    assert device.returned().modelled == pytest.approx(copies_seconds(1, 64))


def test_copies_of_a_relay_cost_nothing_but_what_the_host_computed(engine: Engine) -> None:
    """A Triton program's own tensors are on the host, and are copied around each launch."""
    device = Device(engine, relayed=True)
    (address,) = struct.unpack("<Q", device.answer(MESSAGE.ALLOCATE, struct.pack("<Q", 64))[1])

    def copies(contents: bytes, unwritten: int = 0) -> int:
        """``unwritten``: bytes that are then said to be of a new tensor."""
        device.answer(MESSAGE.COPY, COPY_HEAD.pack(address, 0, 64, 1, 0) + contents)
        if unwritten:
            device.answer(MESSAGE.UNWRITTEN, RANGE.pack(address, unwritten) + bytes(range(16)))
        return device.call.copies

    new = bytes(range(16)) * 4
    device.begin(counted=True)
    assert copies(new, unwritten=64) == 0
    _, back = device.answer(MESSAGE.COPY, COPY_HEAD.pack(0, address, 64, 2, 0))
    assert copies(back) == 0, "it came from the device"
    assert copies(b"h" * 64) == 1
    assert copies(b"i" * 64, unwritten=64) == 2, "it holds more than a new tensor does"
    assert copies(back, unwritten=64) == 2, "what cost nothing is not taken off once more"
    assert copies(b"j" * 64, unwritten=1 << 40) == 3
    assert copies(b"h" * 64) == 4
    memory = ctypes.create_string_buffer(64)
    argument = device.adopt(ctypes.addressof(memory), 64, "x", written=True)
    device.answer(MESSAGE.COPY, COPY_HEAD.pack(0, argument, 64, 2, 0))
    assert device.returned().modelled == pytest.approx(copies_seconds(5, 5 * 64))


def test_host_writes_to_arguments_count_as_copies(engine: Engine) -> None:
    device = Device(engine, relayed=True)
    device.begin(counted=True)
    device.written_by_host(64)
    assert device.returned().modelled == pytest.approx(copies_seconds(1, 64))


def test_host_writes_to_large_managed_memory_are_kept(engine: Engine) -> None:
    """Its pages are filled when the GPU first touches them."""
    device = Device(engine)
    (address,) = struct.unpack(
        "<Q", device.answer(MESSAGE.ALLOCATE_MANAGED, struct.pack("<QI", LARGE_BYTES, 0))[1]
    )
    device.begin()
    assert device.answer(MESSAGE.PUSH, RANGE.pack(address, 4) + b"host")[0] == 0
    assert device.answer(MESSAGE.COPY, COPY_HEAD.pack(0, address, 4, 2, 0)) == (0, b"host")


def test_a_library_of_another_version_says_how_to_build_it() -> None:
    with pytest.raises(EngineMissing, match=r"another version; run sandbox/emulator/build\.sh"):
        Engine(1, Path("libm.so.6"))
