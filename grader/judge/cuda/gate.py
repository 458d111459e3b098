"""The gate on a GPU: words in host memory that both processes' streams wait on and write.

The judge opens it from its own stream, behind the reveal and without a host round trip: an idle gap before the gate
would be room to hide work, and the switch between contexts for free.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable

import torch

from grader.errors import JudgeFailure
from grader.judge.cuda.driver import api, check
from grader.judge.gate import LOOKS_BETWEEN_CHECKS, OPEN_WORD, HostGate, Opening
from grader.judge.relief import Relief

_WORD_BYTES = 4
# No honest round keeps the judge's own stream waiting so long.
_LONGEST_S = 30.0
# Enqueueing a round takes a millisecond, and seconds where a kernel has to be compiled.
_ENQUEUE_S = 20.0
# Words of the private page, in cache lines of their own: the gate was opened, all outputs were looked at, and what
# holds the judge's stream back before the reveal and before the look.
_OPENED, _LOOKED, _HELD, _LOOK_HELD = 0, 16, 32, 48


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
        self._relief = Relief(self.give_up, _ENQUEUE_S)
        self._start, self._end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]

    def open(self) -> float:
        self._enqueue_opening()
        return self._seen(_OPENED, "open the gate")

    def open_behind(self, reveal: Callable[[], None], look: Callable[[], None]) -> Opening:
        """Enqueue a whole round behind two holds, then lift the first: reveal and opening run back to back, at no pace
        but the GPU's, and its own clock says how long they took; the look waits for ``look_now``. So nothing that the
        host does within a round takes time that wanders.

        Both must have run once before: what they load or allocate for the first time may wait for the held stream.
        Raises JudgeFailure where something did.
        """
        try:
            with self._relief.within():
                self._enqueue_hold(_HELD)
                self._start.record()
                reveal()
                self._enqueue_opening()
                self._end.record()
                self._enqueue_hold(_LOOK_HELD)
                look()
                self._enqueue_write(self._private, _LOOKED)
        except BaseException:
            self.give_up()
            raise
        finally:
            self._private_words[_HELD] = self.round
        return Opening(
            self._seen(_OPENED, "open the gate"), lambda: self._start.elapsed_time(self._end) * 1e-3
        )

    def look_now(self) -> float:
        self._private_words[_LOOK_HELD] = self.round
        return self._seen(_LOOKED, "look at the outputs")

    def give_up(self) -> None:
        """Lift every hold: nothing waits behind them that harms."""
        for word in (_HELD, _LOOK_HELD):
            self._private_words[word] = self.round

    def _enqueue_opening(self) -> None:
        self._enqueue_write(self._private, _OPENED)
        self._enqueue_write(self._shared, OPEN_WORD)

    def _enqueue_write(self, page: _Registered, word: int) -> None:
        stream = torch.cuda.current_stream().cuda_stream
        check(api().cuStreamWriteValue32(stream, page.device + word * _WORD_BYTES, self.round, 0))

    def _enqueue_hold(self, word: int) -> None:
        cu, stream = api(), torch.cuda.current_stream().cuda_stream
        equal = int(cu.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_EQ)
        check(cu.cuStreamWaitValue32(stream, self._private.device + word * _WORD_BYTES, self.round, equal))

    def _seen(self, word: int, what: str) -> float:
        """Spin until the GPU has written the private ``word``; returns the time of it."""
        words, number = self._private_words, self.round
        limit = time.perf_counter() + _LONGEST_S
        while time.perf_counter() < limit:
            for _ in range(LOOKS_BETWEEN_CHECKS):
                if words[word] == number:
                    return time.perf_counter()
        raise JudgeFailure(f"the judge's own stream did not {what} within {_LONGEST_S:.0f} s")

    def close(self) -> None:
        self._relief.close()
        self.give_up()
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
