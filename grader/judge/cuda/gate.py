"""The gate on a GPU: words in host memory that both processes' streams wait on and write.

The judge opens it from its own stream, behind the reveal and without a host round trip: an idle gap before the gate
would be room to hide work, and the switch between contexts for free.
"""

from __future__ import annotations

import mmap
import time

import torch

from grader.errors import JudgeFailure
from grader.judge.cuda.driver import api, check
from grader.judge.gate import LOOKS_BETWEEN_CHECKS, OPEN_WORD, HostGate

_WORD_BYTES = 4
_OPEN_SECONDS = 30.0


class CudaGate(HostGate):
    """``open`` enqueues the write and spins until the host sees it: that moment is t0.

    What the host looks at is a page of its own, which the runner never has: a runner can write the shared words, and
    hiding that the gate is open would make t0 late.
    """

    def __init__(self) -> None:
        super().__init__()
        self._shared = _Registered(self._map)
        self._private_map = mmap.mmap(-1, mmap.PAGESIZE)
        self._private_words = memoryview(self._private_map).cast("I")
        self._private = _Registered(self._private_map)

    def open(self) -> float:
        cu = api()
        stream = torch.cuda.current_stream().cuda_stream
        check(cu.cuStreamWriteValue32(stream, self._private.device, self.round, 0))
        check(cu.cuStreamWriteValue32(stream, self._shared.device + OPEN_WORD * _WORD_BYTES, self.round, 0))
        words, number = self._private_words, self.round
        limit = time.perf_counter() + _OPEN_SECONDS
        while time.perf_counter() < limit:
            for _ in range(LOOKS_BETWEEN_CHECKS):
                if words[0] == number:
                    return time.perf_counter()
        raise JudgeFailure("the judge's own stream did not open the gate")

    def close(self) -> None:
        torch.cuda.synchronize()
        self._shared.close()
        self._private.close()
        self._private_words.release()
        self._private_map.close()
        super().close()


class _Registered:
    """A page of host memory that the GPU may write; ``device`` is its address there."""

    def __init__(self, page: mmap.mmap) -> None:
        cu = api()
        view = torch.frombuffer(page, dtype=torch.uint8)
        self._host = view.data_ptr()
        del view
        check(cu.cuMemHostRegister(self._host, len(page), cu.CU_MEMHOSTREGISTER_DEVICEMAP))
        self.device = int(check(cu.cuMemHostGetDevicePointer(self._host, 0)))

    def close(self) -> None:
        check(api().cuMemHostUnregister(self._host))
