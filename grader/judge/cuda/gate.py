"""The gate on a GPU: words in host memory that both processes' streams wait on and write.

The judge opens it from its own stream, behind the reveal and without a host round trip: an idle gap before the gate
would be room to hide work, and the switch between contexts for free.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from grader.judge.cuda.driver import api, check
from grader.judge.gate import OPEN_WORD, HostGate

_WORD_BYTES = 4
_OPEN_SECONDS = 30.0


class CudaGate(HostGate):
    """``open`` enqueues the write and spins until the host sees it: that moment is t0."""

    def __init__(self) -> None:
        super().__init__()
        cu = api()
        mapped = torch.frombuffer(self._map, dtype=torch.uint8)
        self._host = mapped.data_ptr()
        del mapped
        size = len(self._map)
        check(cu.cuMemHostRegister(self._host, size, cu.CU_MEMHOSTREGISTER_DEVICEMAP))
        self._device = int(check(cu.cuMemHostGetDevicePointer(self._host, 0)))

    def open(self) -> float:
        cu = api()
        stream = torch.cuda.current_stream().cuda_stream
        check(cu.cuStreamWriteValue32(stream, self._device + OPEN_WORD * _WORD_BYTES, self.round, 0))
        words, number = self._words, self.round
        limit = time.perf_counter() + _OPEN_SECONDS
        while words[OPEN_WORD] != number:
            if time.perf_counter() > limit:
                raise TimeoutError("the judge's own stream did not open the gate")
        return time.perf_counter()

    def open_from_host(self) -> None:
        """Open without the stream: for a call that is not to wait."""
        self._words[OPEN_WORD] = self.round

    def spin_until_done(self, deadline: float, gone: Callable[[], bool]) -> float | None:
        return super().spin_until_done(deadline, gone)

    def close(self) -> None:
        torch.cuda.synchronize()
        check(api().cuMemHostUnregister(self._host))
        super().close()
