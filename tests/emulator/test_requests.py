"""A student's host code may send any bytes to the device. Each request gets an answer, none ends the device,
and none reaches others' memory.
"""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

from grader.sandbox.emulator.device import COPY_HEAD, LAUNCH_HEAD, MOST_BYTES, Device, driver
from grader.sandbox.emulator.names import MESSAGE

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
KERNEL = (
    HEAD
    + """.visible .entry k(.param .u64 k_param_0)
{
.reg .b64 %d<2>;
ld.param.u64 %d1, [k_param_0];
st.global.b32 [%d1], 7;
ret;
}
.func helper()
{
ret;
}
"""
)
LARGE = (0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)


def launch(
    module: int,
    name: bytes,
    sizes: tuple[int, ...],
    params: bytes,
    shared: int = 0,
    length: int | None = None,
) -> bytes:
    count = len(name) if length is None else length
    return LAUNCH_HEAD.pack(module, count, 0, shared, *sizes, 0, 0, 0, 0) + name + params


@pytest.mark.parametrize("kind", sorted(driver.HANDLERS))
def test_any_request_bytes_get_an_answer(device: Device, kind: int) -> None:
    dice = random.Random(kind)
    assert device.answer(MESSAGE.MODULE, b"//\n" + KERNEL.encode())[0] == 0
    for size in (0, 1, 3, 4, 8, 12, 16, 20, 28, 32, 36, 60, 64, 96, 200):
        for _ in range(8):
            words = [dice.choice((0, 1, 4, 255, 2**31 - 1, 2**32 - 1)) for _ in range(-(-size // 4))]
            for body in (dice.randbytes(size), struct.pack(f"<{len(words)}I", *words)[:size]):
                device.begin()
                status, reply = device.answer(kind, body)
                assert isinstance(status, int)
                assert len(reply) <= MOST_BYTES


def test_unknown_requests_are_invalid_values(device: Device) -> None:
    assert [device.answer(kind, b"\xff" * 64)[0] for kind in (0, 99, 2**32 - 1)] == [1, 1, 1]


def test_copies_reach_only_buffers(device: Device) -> None:
    mine, theirs = np.arange(16, dtype=np.uint8), np.full(16, 9, np.uint8)
    address = device.adopt(mine.ctypes.data, 16, "mine", written=True)
    for at in (*LARGE, address - 1, address + 1, theirs.ctypes.data, mine.ctypes.data):
        for kind in (1, 2, 3, 0, 4, 2**32 - 1):
            head = COPY_HEAD.pack(at, at, 16, kind, 0)
            assert device.answer(MESSAGE.COPY, head + bytes(16)) == (1, b""), (at, kind)
    for size in LARGE[2:]:
        assert device.answer(MESSAGE.COPY, COPY_HEAD.pack(0, address, size, 2, 0)) == (1, b"")
        assert device.answer(MESSAGE.SET, driver.SET_HEAD.pack(address, size, 1, 0)) == (1, b"")
    assert mine.tolist() == list(range(16))
    assert theirs.tolist() == [9] * 16


def test_false_launch_requests_are_refused(device: Device) -> None:
    assert device.answer(MESSAGE.MODULE, b"//\n" + KERNEL.encode())[0] == 0
    one = (1, 1, 1)
    out = np.zeros(1, np.uint32)
    address = struct.pack("<Q", device.adopt(out.ctypes.data, 4, "out", written=True))
    refused = [
        launch(7, b"k", one + one, address),
        launch(0, b"helper", one + one, b""),
        launch(0, b"k", one + one, b""),
        launch(0, b"k", one + one, address[:7]),
        launch(0, b"k", one + one, address, length=2**32 - 1),
        launch(0, b"k", one + one, address, shared=2**32 - 1),
        *(launch(0, b"k", (size, 1, 1, *one), address) for size in (0, 2**31, 2**32 - 1)),
        *(launch(0, b"k", (*one, size, 1, 1), address) for size in (0, 1025, 2**32 - 1)),
        launch(0, b"k", (*one, 2**16, 2**16, 1), address),
    ]
    assert all(device.answer(MESSAGE.LAUNCH, body)[0] for body in refused)
    assert out[0] == 0
    assert device.answer(MESSAGE.LAUNCH, launch(0, b"k", one + one, address))[0] == 0
    assert out[0] == 7


def test_memory_is_bounded_and_cannot_be_freed_twice(device: Device) -> None:
    assert device.answer(MESSAGE.ALLOCATE, struct.pack("<QI", 2**64 - 1, 0))[0] == 2
    status, reply = device.answer(MESSAGE.ALLOCATE, struct.pack("<QI", 64, 0))
    assert status == 0
    assert [device.answer(MESSAGE.RELEASE, reply + bytes(4))[0] for _ in range(2)] == [0, 1]
