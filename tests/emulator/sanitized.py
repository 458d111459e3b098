"""Runs the engine of ``SANITIZED_ENGINE``, in a process with the sanitizers' libraries in ``LD_PRELOAD``.

pytest -p tests.emulator.sanitized ...                 tests use that engine
python -m tests.emulator.sanitized fuzz SEED COUNT   COUNT samples, changed at random: how many ran
python -m tests.emulator.sanitized allocations         each allocation of a launch fails once: how many there are
"""

from __future__ import annotations

import ctypes
import os
import random
import sys
from pathlib import Path

from grader.sandbox import emulator

LIBRARY = Path(os.environ["SANITIZED_ENGINE"])
# Do not sanitize compilers that tests start.
os.environ.pop("LD_PRELOAD", None)
emulator.LIBRARY = LIBRARY

from grader.sandbox.emulator.engine import Engine  # noqa: E402 - they take its default from there
from grader.sandbox.emulator.findings import Fault  # noqa: E402 - they take its default from there
from grader.sandbox.emulator.limits import LaunchRefused  # noqa: E402 - they take its default from there
from grader.sandbox.emulator.lower import Unsupported  # noqa: E402
from grader.sandbox.emulator.ptx import BadPtx, split_operands  # noqa: E402
from tests.emulator import counted  # noqa: E402

_WORDS = (
    "%d8",
    "%r8",
    "%q2",
    "%f8",
    "%d1",
    "[%d1]",
    "[room]",
    "[%r1]",
    "-1",
    "0",
    "4294967295",
    "0x7fffffffffff",
    "_",
    "",
)


def changed(sample: str, dice: random.Random) -> str:
    """Gives one to three statements operands or modifiers of others."""
    statements = sample.replace("AT ", "").split(";")
    others = [
        part
        for text in counted.SAMPLES.values()
        for part in text.replace("AT ", "").split(";")
        if part.strip()
    ]
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(len(statements))
        head, space, rest = statements[at].strip().partition(" ")
        operands = split_operands(rest)
        match dice.randrange(4):
            case 0:
                statements.insert(at, dice.choice(others))
            case 1 if operands:
                operands[dice.randrange(len(operands))] = dice.choice(_WORDS)
                statements[at] = f"{head}{space}{', '.join(operands)}"
            case 2:
                words = head.split(".")
                words[dice.randrange(len(words))] = dice.choice(
                    dice.choice(others).strip().split(" ")[0].split(".")
                )
                statements[at] = f"{'.'.join(words)}{space}{rest}"
            case _:
                del statements[at : at + 1]
                statements.append("bar.sync 0")
    return ";\n".join(statement for statement in statements if statement.strip()) + ";"


def fuzz(seed: int, count: int) -> int:
    dice, ran = random.Random(seed), 0
    samples = list(counted.SAMPLES.values())
    for _ in range(count):
        text = changed(dice.choice(samples), dice)
        counting, check = dice.random() < 0.5, dice.randrange(3)
        engine = Engine(threads=1)
        try:
            engine.check = check
            engine.launches = [] if counting else None
            address, _data = engine.allocate(4096, "data", written=dice.random() < 0.5)
            loaded = engine.load(f"{counted.HEAD}{text}\nret;\n}}\n")
            params = address.to_bytes(8, "little") + dice.randbytes(8)
            engine.launch(
                loaded, "k", (dice.randint(1, 3), 1, 1), (dice.choice((1, 31, 32, 64)), 1, 1), params
            )
            ran += 1
        except (Unsupported, BadPtx, Fault, LaunchRefused, MemoryError):
            pass
        engine.findings()
        engine.close()
    return ran


def fail_each_allocation() -> int:
    """The number of allocations of a launch that uses most of the engine."""
    samples = ("ASYNC BULK_COPY in", "COPY_LATE", "HEAP", "PRINT", "TEXTURE tex", "LOAD global")
    body = "\n".join(f"{{\n{counted.SAMPLES[sample].replace('AT ', '')}\n}}" for sample in samples)
    count = 0
    while True:
        library = ctypes.CDLL(str(LIBRARY))
        library.engine_allocations.argtypes = [ctypes.c_int64]
        library.engine_allocations(count)
        try:
            engine = Engine(threads=1)
        except MemoryError:
            count += 1
            continue
        try:
            engine.launches = []
            address, _data = engine.allocate(65536, "data", written=True)
            loaded = engine.load(f"{counted.HEAD}{body}\nret;\n}}\n")
            texture = engine.texture(counted.texture_of(address))
            params = address.to_bytes(8, "little") + texture.to_bytes(8, "little")
            engine.launch(loaded, "k", (2, 1, 1), (64, 1, 1), params)
            return count
        except MemoryError:
            count += 1
        finally:
            engine.close()


if __name__ == "__main__":
    print(fuzz(int(sys.argv[2]), int(sys.argv[3])) if sys.argv[1] == "fuzz" else fail_each_allocation())
