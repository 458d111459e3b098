"""The gate on a GPU: words in host memory that both processes' streams wait on and write.

A whole round is in the judge's stream before it begins: reveal, opening, a wait for the runner's "done", spot check and
full check. So no host work takes time within it, and events of that stream time it. The judge opens from its own
stream, after the reveal: in an idle gap before the gate, work could hide and the switch between contexts would be free.
The stream itself waits for "done": if the host noticed and answered, work after "done" would be free.
"""

from __future__ import annotations

import mmap
import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import torch

from grader.errors import JudgeFailure
from grader.judge.cuda.driver import api, check
from grader.judge.gate import DONE_WORD, LOOKS_BETWEEN_CHECKS, OPEN_WORD, HostGate, Window
from grader.judge.watchdog import Watchdog

_WORD_BYTES = 4
# No honest round keeps the judge's stream waiting longer.
_LONGEST_S = 30.0
# Enqueueing a round takes a millisecond, or seconds if a kernel must be compiled.
_ENQUEUE_S = 20.0
# Work after "done" takes milliseconds once the judge's stream continues.
_RELEASE_S = 2.0
# Words of the private page, in separate cache lines: the gate was opened, all outputs were checked, and the hold of the
# judge's stream before the reveal.
_OPENED, _LOOKED, _HELD = 0, 16, 32


class CudaGate(HostGate):
    """``open`` enqueues the write and spins until the host sees it: on a private page, which the runner never has."""

    def __init__(self, others: Sequence[int] = ()) -> None:
        """``others``: of several GPUs that a submission uses together, the numbers of the others."""
        super().__init__()
        self._others = others
        self._shared = _Registered(self._map)
        self._private_map = mmap.mmap(-1, mmap.PAGESIZE)
        self._private_words = memoryview(self._private_map).cast("I")
        self._private = _Registered(self._private_map)
        self._watchdog = Watchdog(self._lift, _ENQUEUE_S)
        # Around the reveal, after the spot check and after the full check.
        self._marks = [torch.cuda.Event(enable_timing=True) for _ in range(4)]  # type: ignore[no-untyped-call]
        # The judge's stream; asking torch for it is slow.
        self._stream = torch.cuda.current_stream()
        self._enqueued = 0

    def open(self) -> float:
        self._enqueue_opening()
        return self._seen(_OPENED, "open the gate")

    def open_behind(
        self, reveal: Callable[[], None], spot_check: Callable[[], None], full_check: Callable[[], None]
    ) -> float:
        """Enqueue a round behind a hold, then lift it.

        The opening's mark comes before it: if the GPU turns to the runner between them, the runner loses that time. All
        three functions must have run before: a first load or allocation may wait for the held stream. Raises
        JudgeFailure if something did.
        """
        try:
            with self._watchdog.within():
                self._enqueue_wait(self._private, _HELD)
                self._marks[0].record(self._stream)
                reveal()
                self._marks[1].record(self._stream)
                self._enqueue_opening()
                self._enqueue_wait(self._shared, DONE_WORD)
                spot_check()
                self._marks[2].record(self._stream)
                full_check()
                self._marks[3].record(self._stream)
                self._enqueue_write(self._private, _LOOKED)
                self._enqueued = self.round
        except BaseException:
            self._lift()
            raise
        finally:
            self._private_words[_HELD] = self.round
        return self._seen(_OPENED, "open the gate")

    def check_now(self) -> Window:
        """Here ``gate`` ends after the spot check, which begins when the runner has released the GPU (contexts share it
        by time slices) and sees the call's results at that moment. Raises JudgeFailure if it does not end."""
        if not self._looked(_LONGEST_S):
            raise JudgeFailure(f"the judge's own stream did not check the outputs within {_LONGEST_S:.0f} s")
        self._marks[-1].synchronize()
        parts = [first.elapsed_time(second) * 1e-3 for first, second in pairwise(self._marks)]
        return Window(*parts)

    def give_up(self) -> bool:
        self._lift()
        return self._enqueued != self.round or self._looked(_RELEASE_S)

    def _looked(self, seconds: float) -> bool:
        """Spin until all outputs were checked. A runner may revoke its "done" while the judge's stream waits for it,
        and again after the judge writes it: so the judge writes it all the time."""
        words, private, number = self._words, self._private_words, self.round
        limit = time.perf_counter() + seconds
        while time.perf_counter() < limit:
            for _ in range(LOOKS_BETWEEN_CHECKS):
                words[DONE_WORD] = number
                if private[_LOOKED] == number:
                    return True
        return False

    def _lift(self) -> None:
        """Lift every hold: nothing harmful waits behind them."""
        self._private_words[_HELD] = self.round
        self._words[DONE_WORD] = self.round

    def _enqueue_opening(self) -> None:
        """The runner's word first: once the host has seen the private one, the runner must find the gate open. A
        context switch between them would otherwise make its waits return at once."""
        for other in self._others:  # whatever was written there comes before
            self._stream.wait_stream(torch.cuda.current_stream(other))
        self._enqueue_write(self._shared, OPEN_WORD)
        self._enqueue_write(self._private, _OPENED)

    def _enqueue_write(self, page: _Registered, word: int) -> None:
        stream = self._stream.cuda_stream
        check(api().cuStreamWriteValue32(stream, page.device + word * _WORD_BYTES, self.round, 0))

    def _enqueue_wait(self, page: _Registered, word: int) -> None:
        cu, stream = api(), self._stream.cuda_stream
        reached = int(cu.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_GEQ)
        check(cu.cuStreamWaitValue32(stream, page.device + word * _WORD_BYTES, self.round, reached))

    def _seen(self, word: int, what: str) -> float:
        """Spin until the GPU has written the private ``word``. Returns the time."""
        words, number = self._private_words, self.round
        limit = time.perf_counter() + _LONGEST_S
        while time.perf_counter() < limit:
            for _ in range(LOOKS_BETWEEN_CHECKS):
                if words[word] == number:
                    return time.perf_counter()
        raise JudgeFailure(f"the judge's own stream did not {what} within {_LONGEST_S:.0f} s")

    def close(self) -> None:
        self._watchdog.close()
        self._lift()
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
