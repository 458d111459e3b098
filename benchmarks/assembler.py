"""What NVIDIA's assembler makes of short branches and short loops: where the emulated GPU's model has its rules from
(``Shapes`` in sandbox/emulator/branches.py).

    python benchmarks/assembler.py

Of a branch: over how many instructions it becomes predicates. Of a loop that loads, then multiplies so often: how many
copies of its body there are, 1 where it was not unrolled. Takes ptxas and nvdisasm from Triton's wheel.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

ARCHITECTURE = "sm_90a"
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24)
LOOP_SIZES = (1, 4, 12, 20, 22, 24, 32, 44, 48)
HEAD = """.version 8.0
.target sm_90a
.address_size 64
.shared .align 16 .b8 room[4096];
.visible .entry k(.param .u64 p, .param .f32 x, .param .u32 limit) {
.reg .pred %p<4>; .reg .f32 %f<100>; .reg .b32 %r<10>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [p]; ld.param.f32 %f4, [x]; ld.param.u32 %r9, [limit]; cvta.to.global.u64 %rd1, %rd1;
mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd1, %rd1, %rd2;
mov.u32 %r3, room; shl.b32 %r5, %r1, 2; add.u32 %r3, %r3, %r5;
ld.global.f32 %f1, [%rd1]; ld.global.f32 %f3, [%rd1+1024]; ld.global.u32 %r2, [%rd1+2048]; mov.u32 %r4, %r2;
"""
BODIES: dict[str, Callable[[int], str]] = {
    "multiplications": lambda n: "fma.rn.f32 %f1, %f1, %f3, %f4;\n" * n,
    "integer operations, two each": lambda n: "xor.b32 %r2, %r2, %r4; add.u32 %r4, %r4, %r2;\n" * n,
    "loads, and an addition each": lambda n: _accesses("ld.global.f32 %f{}, [%rd1+{}];", n) + _sums(n),
    "loads from shared memory, and an addition each": lambda n: (
        _accesses("ld.shared.f32 %f{}, [%r3+{}];", n) + _sums(n)
    ),
    "stores": lambda n: "".join(f"st.global.f32 [%rd1+{4 * i}], %f3;\n" for i in range(n)),
    "powers": lambda n: "ex2.approx.f32 %f1, %f1;\n" * n,
    "atomics on shared memory": lambda n: "red.shared.add.u32 [%r3], 1;\n" * n,
}
LOADS = {
    "from global memory": "ld.global.f32 %f3, [%rd1];",
    "from shared memory": "ld.shared.f32 %f3, [%r3];",
    "behind a short branch": "@%p2 bra SKIP; ld.global.f32 %f3, [%rd1]; SKIP:",
    "and stores to shared memory": "ld.global.f32 %f3, [%rd1]; st.shared.f32 [%r3], %f3;",
    "and shuffles": "ld.global.f32 %f2, [%rd1]; shfl.sync.bfly.b32 %f3, %f2, 1, 31, -1;",
    "and changes by atomics": "ld.global.f32 %f3, [%rd1]; red.global.add.f32 [%rd1+64], %f3;",
    "and waits at a barrier": "ld.global.f32 %f3, [%rd1]; bar.sync 0;",
}


def _accesses(text: str, count: int) -> str:
    return "".join(text.format(10 + i, 4 * i) + "\n" for i in range(count))


def _sums(count: int) -> str:
    return "".join(f"add.f32 %f1, %f1, %f{10 + i};\n" for i in range(count))


def branch(body: str) -> str:
    return f"""{HEAD}
setp.gt.f32 %p1, %f3, 0f3F800000;
@%p1 bra AWAY;
{body}
AWAY:
st.global.f32 [%rd1+64], %f1; st.global.u32 [%rd1+128], %r2; ret; }}"""


def loop(load: str, multiplications: int) -> str:
    return f"""{HEAD}
LOOP:
setp.gt.u32 %p2, %r5, %r2;
{load}
{"fma.rn.f32 %f1, %f1, %f3, %f4;" * multiplications}
add.s64 %rd1, %rd1, 1024; add.u32 %r3, %r3, 4; add.u32 %r5, %r5, 1;
setp.lt.u32 %p1, %r5, %r9;
@%p1 bra LOOP;
st.global.f32 [%rd1+64], %f1; ret; }}"""


class Assembler:
    def __init__(self, folder: Path) -> None:
        import triton

        self._tools = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
        self._folder = folder

    def machine_code(self, ptx: str) -> str:
        source, binary = self._folder / "k.ptx", self._folder / "k.cubin"
        source.write_text(ptx)
        subprocess.run([self._tools / "ptxas", f"-arch={ARCHITECTURE}", "-o", binary, source], check=True)
        ran = subprocess.run(
            [self._tools / "nvdisasm", "-c", binary], check=True, capture_output=True, text=True
        )
        return ran.stdout


def main() -> int:
    with TemporaryDirectory(prefix="grader-assembler-") as name:
        assembler = Assembler(Path(name))
        print("a branch becomes predicates over:")
        for title, body in BODIES.items():
            # The code ends with one branch to itself.
            kept = [
                n for n in SIZES if len(re.findall(r"\bBRA\b", assembler.machine_code(branch(body(n))))) > 1
            ]
            most = max((n for n in SIZES if n not in kept), default=0)
            print(f"    {title:50} up to {most}")
        print("copies of a loop's body in the machine code, by its multiplications:")
        for title, load in LOADS.items():
            counts = {
                n: len(re.findall(r"\bFFMA\b", assembler.machine_code(loop(load, n)))) // n
                for n in LOOP_SIZES
            }
            print(f"    {title:50} " + ", ".join(f"{n}: {count}" for n, count in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
