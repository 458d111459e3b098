"""Several emulated GPUs for Triton: torch's calls that choose one, and those that order two.

Tensors are in the host's memory. Work of different GPUs counts as ordered, so events and waits do nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class _Chosen:
    def __init__(self, count: int, tell: Callable[[int], None]) -> None:
        self.count, self.now, self._tell = count, 0, tell

    def set(self, device: Any) -> None:
        number = _number(device, self.now)
        if not 0 <= number < self.count:
            raise RuntimeError(f"There is no GPU {number}: this challenge has {self.count}.")
        if number != self.now:
            self.now = number
            self._tell(number)


def _number(device: Any, now: int) -> int:
    """A number, "cuda:1", or a torch.device."""
    if isinstance(device, int):
        return device
    index = getattr(device, "index", None)
    if index is None and isinstance(device, str) and ":" in device:
        index = int(device.rpartition(":")[2])
    return now if index is None else int(index)


class Event:
    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def record(self, stream: Any = None) -> None:
        pass

    def wait(self, stream: Any = None) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True


class Stream:
    """The default one."""

    cuda_stream = 0

    def record_event(self, event: Event | None = None) -> Event:
        return event or Event()

    def wait_event(self, event: Event) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True


def use(count: int, tell: Callable[[int], None] = lambda number: None) -> Callable[[], None]:
    """``tell`` learns of each choice. Returns a function that chooses the first one again."""
    import torch

    chosen = _Chosen(count, tell)

    class Device:
        def __init__(self, device: Any) -> None:
            self._device, self._before = device, 0

        def __enter__(self) -> None:
            self._before = chosen.now
            chosen.set(self._device)

        def __exit__(self, *_: object) -> None:
            chosen.set(self._before)

    cuda: Any = torch.cuda
    cuda.device = Device
    cuda.set_device = chosen.set
    cuda.current_device = lambda: chosen.now
    cuda.device_count = lambda: count
    cuda.Event = Event
    cuda.current_stream = cuda.default_stream = lambda device=None: Stream()
    return lambda: chosen.set(0)
