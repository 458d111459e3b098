"""Device memory that another process can map, by file descriptor.

Unmapped addresses follow it, so an access past the end faults. Unlike ``cudaIpcGetMemHandle`` it crosses a container's
boundary.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import Any

import torch

from grader.challenge.draw import input_role
from grader.errors import BoxUnavailable
from grader.judge.cuda.driver import DriverError, api, check
from grader.judge.oracle import Question

# Share of the GPU's memory to keep for reuse: once for private memory, once for shared.
KEPT_SHARE = 0.2


SEVERAL_MEND = "A worker with several: grader worker --gpu 0+1. At home: grader test --device BOARD-x2."


class _Pointer:
    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
            "strides": None,
        }


class CudaMemory:
    _numbers = itertools.count(1)

    def __init__(self, maker: CudaMemories, name: str, size: int) -> None:
        cu = api()
        self.key = (name, size)
        self.number = next(self._numbers)
        self._maker = maker
        self._size = size
        self._reserved = size + maker.page
        self._handle = check(cu.cuMemCreate(size, maker.properties, 0))
        self._address = int(check(cu.cuMemAddressReserve(self._reserved, 0, 0, 0)))
        check(cu.cuMemMap(self._address, size, 0, self._handle, 0))
        check(cu.cuMemSetAccess(self._address, size, maker.access, len(maker.access)))
        kind = cu.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        self.descriptor = int(check(cu.cuMemExportToShareableHandle(self._handle, kind, 0)))
        self.bytes = torch.as_tensor(_Pointer(self._address, size), device=maker.device)
        self.bytes.zero_()  # this process may have freed it with answers in it

    def close(self) -> None:
        self._maker.take_back(self)

    def free(self) -> None:
        cu = api()
        del self.bytes
        torch.cuda.synchronize()
        torch.cuda.synchronize(self._maker.device)
        check(cu.cuMemUnmap(self._address, self._size))
        check(cu.cuMemAddressFree(self._address, self._reserved))
        check(cu.cuMemRelease(self._handle))
        os.close(self.descriptor)


class CudaMemories:
    """``page``: the driver's granularity, usually 2 MiB.

    Memory is reused by name and size: a pass over memory depends by up to 2 % on its place, so a control and its
    submission must have the same.
    """

    def __init__(
        self, index: int, kept_share: float = KEPT_SHARE, others: Sequence[int] = (), home: int | None = None
    ) -> None:
        """``others``: a submission's other GPUs. ``home``: the GPU whose kernels also use this memory."""
        cu = api()
        self._others = {
            number + 1: CudaMemories(other, kept_share, home=index) for number, other in enumerate(others)
        }
        self._shelf: list[CudaMemory] = []
        self._most_kept = int(torch.cuda.get_device_properties(index).total_memory * kept_share)
        self.device = torch.device("cuda", index)
        torch.zeros(1, device=self.device)  # makes the primary context, which torch shares
        location_type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        self.properties: Any = cu.CUmemAllocationProp()
        self.properties.type = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        self.properties.location.type = location_type
        self.properties.location.id = index
        self.properties.requestedHandleTypes = (
            cu.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        )
        self.access: list[Any] = []
        for number in (index,) if home is None else (index, home):
            access: Any = cu.CUmemAccessDesc()
            access.location.type = location_type
            access.location.id = number
            access.flags = cu.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
            self.access.append(access)
        least = cu.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
        self.page = int(check(cu.cuMemGetAllocationGranularity(self.properties, least)))

    @property
    def home(self) -> torch.device:
        return self.device

    def on(self, gpu: int) -> CudaMemories:
        if gpu == 0:
            return self
        if gpu not in self._others:
            raise BoxUnavailable(f"the judge has no GPU {gpu}", SEVERAL_MEND)
        return self._others[gpu]

    def make(self, name: str, size: int) -> CudaMemory:
        found = next((memory for memory in self._shelf if memory.key == (name, size)), None)
        if found is None:
            return self._make(name, size)
        self._shelf.remove(found)
        found.bytes.zero_()  # it may hold an earlier submission's data
        return found

    def _make(self, name: str, size: int) -> CudaMemory:
        try:
            return CudaMemory(self, name, size)
        except DriverError:
            self.give_back()
            torch.cuda.empty_cache()
            return CudaMemory(self, name, size)

    @property
    def kept_bytes(self) -> int:
        """On this GPU."""
        return sum(memory.key[1] for memory in self._shelf)

    def take_back(self, memory: CudaMemory) -> None:
        self._shelf.append(memory)
        while self.kept_bytes > self._most_kept:
            self._shelf.pop(0).free()

    def give_back(self) -> None:
        for other in self._others.values():
            other.give_back()
        while self._shelf:
            self._shelf.pop().free()


class Staging:
    """Tensors by role and size that stay in place between rounds."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._kept: dict[tuple[str, int], torch.Tensor] = {}
        self._most_kept = int(torch.cuda.get_device_properties(device).total_memory * KEPT_SHARE)

    @property
    def kept_bytes(self) -> int:
        return sum(tensor.numel() for tensor in self._kept.values())

    def room(self, role: str, like: torch.Tensor) -> torch.Tensor:
        """Earlier values of this role are lost."""
        size = like.numel() * like.element_size()
        kept = self._kept.pop((role, size), None)
        made = kept is None
        if kept is None:
            kept = torch.empty(size, dtype=torch.uint8, device=self._device)
        self._kept[role, size] = kept  # the first is the least recently used
        while made and len(self._kept) > 1 and self.kept_bytes > self._most_kept:
            del self._kept[next(iter(self._kept))]
        return kept.view(like.dtype).view(like.shape)

    def put(self, role: str, values: torch.Tensor) -> torch.Tensor:
        room = self.room(role, values)
        return room if room.data_ptr() == values.data_ptr() else room.copy_(values)

    def stage(self, question: Question) -> Question:
        """A control and its submission must have their tensors in the same place."""
        inputs = {name: self.put(input_role(name), values) for name, values in question.inputs.items()}
        outputs = {name: self.put(f"output {name}", values) for name, values in question.outputs.items()}
        scales = {name: self.put(f"scale {name}", values) for name, values in question.magnitudes.items()}
        return Question(inputs, outputs, scales)

    def give_back(self) -> None:
        self._kept.clear()
