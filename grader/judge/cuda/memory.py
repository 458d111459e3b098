"""Device memory that another process can map: the driver's virtual memory, exported as a file descriptor.

One handle per buffer. The judge maps it followed by unmapped address space, and so does the runner, so that an access
past the end of the mapping faults on either side. The older ``cudaIpcGetMemHandle`` needs shared namespaces; this
crosses a container's boundary without any.
"""

from __future__ import annotations

import os
from typing import Any

import torch

from grader.judge.cuda.driver import api, check


class _Pointer:
    """Bytes of device memory, as torch takes them without a copy."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
            "strides": None,
        }


class CudaMemory:
    """See ``grader.judge.arena.Memory``."""

    def __init__(self, maker: CudaMemories, size: int) -> None:
        cu = api()
        self._size = size
        self._reserved = size + maker.page
        self._handle = check(cu.cuMemCreate(size, maker.properties, 0))
        self._address = int(check(cu.cuMemAddressReserve(self._reserved, 0, 0, 0)))
        check(cu.cuMemMap(self._address, size, 0, self._handle, 0))
        check(cu.cuMemSetAccess(self._address, size, [maker.access], 1))
        kind = cu.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        self.descriptor = int(check(cu.cuMemExportToShareableHandle(self._handle, kind, 0)))
        self.bytes = torch.as_tensor(_Pointer(self._address, size), device=maker.device)

    def close(self) -> None:
        cu = api()
        del self.bytes
        torch.cuda.synchronize()
        check(cu.cuMemUnmap(self._address, self._size))
        check(cu.cuMemAddressFree(self._address, self._reserved))
        check(cu.cuMemRelease(self._handle))
        os.close(self.descriptor)


class CudaMemories:
    """See ``grader.judge.arena.MemoryMaker``. ``page`` is the driver's granularity, 2 MiB as a rule."""

    def __init__(self, index: int) -> None:
        cu = api()
        self.device = torch.device("cuda", index)
        torch.zeros(1, device=self.device)  # makes the primary context and lets torch share it
        location_type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        self.properties: Any = cu.CUmemAllocationProp()
        self.properties.type = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        self.properties.location.type = location_type
        self.properties.location.id = index
        self.properties.requestedHandleTypes = (
            cu.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        )
        self.access: Any = cu.CUmemAccessDesc()
        self.access.location.type = location_type
        self.access.location.id = index
        self.access.flags = cu.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        least = cu.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
        self.page = int(check(cu.cuMemGetAllocationGranularity(self.properties, least)))

    def make(self, name: str, size: int) -> CudaMemory:
        return CudaMemory(self, size)
