"""The filter of system calls, run as in the kernel on its data about a call: every call of the list, one by one."""

from __future__ import annotations

import errno
import struct
from collections.abc import Sequence

import pytest

from grader.sandbox import seccomp
from grader.sandbox.seccomp import UNKNOWN, call_filter

pyseccomp = pytest.importorskip("pyseccomp")

ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0
LOAD, AND, RETURN = 0x20, 0x54, 0x06
# Jumps that compare with the loaded number: always, equal, greater, no less, a common bit.
JUMPS = {0x05: lambda a, k: True, 0x15: int.__eq__, 0x25: int.__gt__, 0x35: int.__ge__, 0x45: int.__and__}
NATIVE = pyseccomp.system_arch()


def number(name: str) -> int:
    return int(pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name))


def answer(call: int, arguments: Sequence[int] = (), arch: int = NATIVE, *, loopback: bool = False) -> int:
    data = struct.pack("=iIQ6Q", call, arch, 0, *([*arguments] + [0] * 6)[:6])
    made = call_filter(loopback=True) if loopback else call_filter()
    program = list(struct.iter_unpack("=HBBI", made))
    place, held = 0, 0
    while True:
        code, if_so, if_not, value = program[place]
        place += 1
        if code == LOAD:
            (held,) = struct.unpack_from("=I", data, value)
        elif code == AND:
            held &= value
        elif code == RETURN:
            return int(value)
        elif code == 0x05:
            place += value
        else:
            place += if_so if JUMPS[code](held, value) else if_not


def refused(error: int) -> int:
    return ERRNO | error


def known(names: list[str]) -> list[str]:
    return [name for name in names if number(name) >= 0]


def test_every_call_of_the_list_is_allowed() -> None:
    names = known(seccomp.allowed_calls())
    assert len(names) > 200
    assert {name for name in names if answer(number(name)) != ALLOW} == set()


def test_every_other_call_is_refused() -> None:
    listed = {number(name) for name in seccomp.allowed_calls()}
    conditional = "clone mmap memfd_create prlimit64 setrlimit personality socket socketpair"
    absent = {number(name) for name in known(seccomp.ABSENT.split())}
    asked = set(range(600)) - listed - {number(name) for name in conditional.split()} - absent
    assert len(asked) > 200
    assert {answer(call) for call in asked} == {refused(errno.EPERM)}
    assert {answer(call) for call in absent} == {refused(errno.ENOSYS)}
    assert UNKNOWN not in absent


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("clone", (17,), ALLOW),
        ("clone", (0x10000000 | 17,), refused(errno.EPERM)),
        ("clone", (0x00020000,), refused(errno.EPERM)),
        ("mmap", (0, 1, 3, 0x22), ALLOW),
        ("mmap", (0, 1, 3, 0x40022), refused(errno.EPERM)),
        ("memfd_create", (0, 1), ALLOW),
        ("memfd_create", (0, 5), refused(errno.EPERM)),
        ("prlimit64", (0, 4, 0), ALLOW),
        ("prlimit64", (0, 4, 1), refused(errno.EPERM)),
        ("prlimit64", (0, 0x1_0000_0004, 1 << 32), refused(errno.EPERM)),
        ("prlimit64", (0, 7, 1), ALLOW),
        ("setrlimit", (4,), refused(errno.EPERM)),
        ("setrlimit", (7,), ALLOW),
        ("personality", (0,), ALLOW),
        ("personality", (0xFFFFFFFF,), ALLOW),
        ("personality", (0x0040000,), refused(errno.EPERM)),
        ("socket", (1, 1, 0), ALLOW),
        ("socket", (16, 3, 0), ALLOW),
        ("socket", (16, 3, 12), refused(errno.EPERM)),
        ("socket", (2, 1, 0), refused(errno.EAFNOSUPPORT)),
        ("socket", (10, 1, 0), refused(errno.EAFNOSUPPORT)),
        ("socket", (17, 1, 0), refused(errno.EPERM)),
        ("socketpair", (1, 1, 0), ALLOW),
        ("socketpair", (2, 1, 0), refused(errno.EPERM)),
    ],
)
def test_the_filter_checks_arguments(name: str, arguments: tuple[int, ...], said: int) -> None:
    assert answer(number(name), arguments) == said


def test_a_box_with_a_loopback_gets_sockets_of_the_network() -> None:
    found = [answer(number("socket"), (family, 1, 0), loopback=True) for family in (1, 2, 10, 17)]
    assert found == [ALLOW, ALLOW, ALLOW, refused(errno.EPERM)]


def test_another_architecture_ends_the_thread() -> None:
    assert answer(20, arch=pyseccomp.Arch.X86) == KILL
    assert answer(0x40000000 | 39) == KILL, "x32, by a bit in the number"
