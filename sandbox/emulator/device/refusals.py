from __future__ import annotations

from collections.abc import Sequence

from ..limits import MOST_GRID, MOST_THREADS
from ..names import MISUSE


def why_not_launched(which: int, numbers: Sequence[int]) -> str:
    if which == MISUSE.NO_SUCH_KERNEL:
        return "The launched function is not a kernel of this source."
    if which == MISUSE.TOO_MUCH_SHARED:
        dynamic, static, most = numbers[:3]
        return (
            f"A launch asks for {dynamic:,} bytes of dynamic shared memory, and its kernel declares {static:,}: "
            f"together more than the {most:,} allowed. To use more than 48 KiB, first call cudaFuncSetAttribute with "
            "cudaFuncAttributeMaxDynamicSharedMemorySize."
        )
    grid, block = numbers[:3], numbers[3:6]
    threads = block[0] * block[1] * block[2]
    if not all(grid):
        return (
            f"A launch has a grid of {_shape(grid)} blocks: it needs at least one. If a size may be 0, return before "
            "the launch. If not, an integer division rounds down: (n + 255) / 256 counts blocks of 256, n / 256 drops "
            "the last one."
        )
    if not threads:
        return f"A launch has blocks of {_shape(block)} threads: it needs at least one."
    if threads > MOST_THREADS:
        product = f", {threads:,} in all" if max(block) < threads else ""
        return (
            f"A launch has blocks of {_shape(block)} threads{product}: a block has at most {MOST_THREADS:,}. Use "
            "more, smaller blocks."
        )
    return (
        f"A launch has a grid of {_shape(grid)} blocks of {_shape(block)} threads. A grid has at most {MOST_GRID[0]:,} "
        f"blocks along x and {MOST_GRID[1]:,} along y and z, a block at most 64 threads along z."
    )


def why_not_that_gpu(numbers: Sequence[int]) -> str:
    """For OTHER_GPU of protocol.h."""
    of_stream, other, is_event = numbers[:3]
    if is_event:
        return (
            f"cudaEventRecord records an event that was made on GPU {other} in a stream of GPU {of_stream}: make the "
            f"event after cudaSetDevice({of_stream}). A stream of any GPU may then wait for it."
        )
    return (
        f"A launch is into a stream of GPU {of_stream}, and GPU {other} is set: call cudaSetDevice({of_stream}) before "
        "the launch."
    )


def _shape(sizes: Sequence[int]) -> str:
    """``1,024``, or ``16 x 16``."""
    last = max((i for i, size in enumerate(sizes) if size != 1), default=0)
    return " x ".join(f"{size:,}" for size in sizes[: last + 1])
