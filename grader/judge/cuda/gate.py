"""The gate on a GPU: words in host memory that both processes' streams wait on and write.

A whole round is in the judge's stream before it begins: no host work takes time in it, and the stream's events time it.
The judge opens from that stream, so no work can hide in an idle gap before the gate. The stream itself waits for
"done": if the host did, work after "done" would be free.
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
# No honest round takes longer.
_LONGEST_S = 30.0
# Enqueueing takes a millisecond, or seconds if a kernel must be compiled.
_ENQUEUE_S = 20.0
# Work after "done" takes milliseconds.
_RELEASE_S = 2.0
# Words of the private page, in separate cache lines.
_OPENED, _LOOKED, _HELD = 0, 16, 32


class CudaGate(HostGate):
    """``open`` spins on a private page, which the runner never has."""

    def __init__(self, others: Sequence[int] = ()) -> None:
        """``others``: a submission's other GPUs."""
        super().__init__()
        self._others = others
        self._shared = _Registered(self._map)
        self._private_map = mmap.mmap(-1, mmap.PAGESIZE)
        self._private_words = memoryview(self._private_map).cast("I")
        self._private = _Registered(self._private_map)
        self._watchdog = Watchdog(self._lift, _ENQUEUE_S)
        # Around the reveal, after the spot check and after the full check.
        self._marks = [torch.cuda.Event(enable_timing=True) for _ in range(4)]  # type: ignore[no-untyped-call]
        # Asking torch for it is slow.
        self._stream = torch.cuda.current_stream()
        self._enqueued = 0

    def open(self) -> float:
        self._enqueue_opening()
        return self._seen(_OPENED, "open the gate")

    def open_behind(
        self, reveal: Callable[[], None], spot_check: Callable[[], None], full_check: Callable[[], None]
    ) -> float:
        """Enqueue a round behind a hold, then lift it.

        The mark precedes the opening: if the GPU turns to the runner in between, the runner loses that time. All
        functions must have run before: a first load or allocation may wait for the held stream. Raises JudgeFailure if
        one does.
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
        """``gate`` ends after the spot check, which begins when the runner releases the GPU (contexts share it by
        time slices). Raises JudgeFailure if it does not end."""
        if not self._looked(_LONGEST_S):
            raise JudgeFailure(f"the judge's own stream did not check the outputs within {_LONGEST_S:.0f} s")
        self._marks[-1].synchronize()
        parts = [first.elapsed_time(second) * 1e-3 for first, second in pairwise(self._marks)]
        return Window(*parts)

    def give_up(self) -> bool:
        self._lift()
        return self._enqueued != self.round or self._looked(_RELEASE_S)

    def _looked(self, seconds: float) -> bool:
        """A runner may revoke its "done" while the stream waits for it, so keep writing it."""
        words, private, number = self._words, self._private_words, self.round
        limit = time.perf_counter() + seconds
        while time.perf_counter() < limit:
            for _ in range(LOOKS_BETWEEN_CHECKS):
                words[DONE_WORD] = number
                if private[_LOOKED] == number:
                    return True
        return False

    def _lift(self) -> None:
        """Nothing harmful waits behind the holds."""
        self._private_words[_HELD] = self.round
        self._words[DONE_WORD] = self.round

    def _enqueue_opening(self) -> None:
        """The runner's word first: if a context switch left it closed once the host saw the private one, the
        runner's waits would return at once."""
        for other in self._others:  # after all writes there
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
        """Returns the time."""
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
    """``device``: the page's address on the GPU."""

    def __init__(self, page: mmap.mmap) -> None:
        cu = api()
        view = torch.frombuffer(page, dtype=torch.uint8)
        self._host = view.data_ptr()
        del view
        check(cu.cuMemHostRegister(self._host, len(page), cu.CU_MEMHOSTREGISTER_DEVICEMAP))
        self.device = int(check(cu.cuMemHostGetDevicePointer(self._host, 0)))

    def close(self) -> None:
        check(api().cuMemHostUnregister(self._host))
