"""One process that builds CUDA vector_add through ``load_inline`` and times it there, as other graders do.

Usage: python inline.py SOLUTION.cu N ANSWER.json. Writes seconds of each part; the parent has the wall clock.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path

ROUNDS = 60
DECLARATION = "void run(torch::Tensor a, torch::Tensor b, torch::Tensor out);"
WRAPPER = """
void run(torch::Tensor a, torch::Tensor b, torch::Tensor out) {
    solve(a.data_ptr<float>(), b.data_ptr<float>(), out.data_ptr<float>(), a.numel());
}
"""


def main() -> None:
    source, n = Path(sys.argv[1]).read_text(), int(sys.argv[2])
    began = time.perf_counter()
    import torch
    from torch.utils.cpp_extension import load_inline

    imported = time.perf_counter()
    module = load_inline(  # type: ignore[no-untyped-call]
        "solution",
        cpp_sources=[DECLARATION],
        cuda_sources=[source + WRAPPER],
        functions=["run"],
        extra_cuda_cflags=["-O3"],
    )
    built = time.perf_counter()
    a, b = (torch.randn(n, device="cuda") for _ in range(2))
    out = torch.empty_like(a)
    module.run(a, b, out)
    right = bool(torch.equal(out, a + b))
    pairs = []
    for _ in range(ROUNDS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        start.record()
        module.run(a, b, out)
        end.record()
        pairs.append((start, end))
    torch.cuda.synchronize()
    time_us = statistics.median(start.elapsed_time(end) for start, end in pairs) * 1e3
    ended = time.perf_counter()
    parts = {"import torch": imported - began, "build": built - imported, "check and time": ended - built}
    Path(sys.argv[3]).write_text(json.dumps({"right": right, "time_us": time_us, "parts_s": parts}))


if __name__ == "__main__":
    main()
