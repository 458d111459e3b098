"""A runner in a box with a GPU, driven by hand, one of the judge's messages at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

import torch

from grader import limits
from grader.judge.arena import lay_out
from grader.judge.channel import BoxSilent, Channel
from grader.judge.cuda.gate import CudaGate
from grader.judge.cuda.memory import CudaMemories
from grader.judge.messages import Bound, Hello, Imported, Loaded, OfCall, Queued, Returned, Starting
from grader.judge.runner_client import sealed
from grader.sandbox.box import BoxMaker, BoxPurpose, BoxSpec
from grader.sandbox.compiler.nvcc import CompileRequest, CompileResult, compile_cuda
from grader.sandbox.gpu import find_gpus

UNWRITTEN = -1.0
# Its number on this machine.
GPU = int(os.environ.get("GRADER_TEST_GPU", "0"))
# ``solve(x, out, n)`` for the judge's footer.
FOOTER = """
#line 1 "grader-footer"
extern "C" __attribute__((visibility("default"))) int grader_entry(void* const* p) {
    solve(*reinterpret_cast<const float* const*>(p[0]), *reinterpret_cast<float* const*>(p[1]),
          *reinterpret_cast<const long*>(p[2]));
    return static_cast<int>(cudaGetLastError());
}
extern "C" __attribute__((visibility("default"))) const char* grader_error(int code) {
    return cudaGetErrorString(static_cast<cudaError_t>(code));
}
"""


def gpu_spec(
    purpose: BoxPurpose = BoxPurpose.RUN, program: str = "main.py", preload: str = "cuda", **env: str
) -> BoxSpec:
    return BoxSpec(
        purpose,
        program=program,
        env={
            "GRADER_PRELOAD": preload,
            "CUDA_MODULE_LOADING": "EAGER" if preload == "cuda" else "LAZY",
            **env,
        },
        memory_bytes=limits.GPU_BOX_MEMORY_BYTES,
        gpu=find_gpus()[GPU],
    )


def compiled(boxes: BoxMaker, source: str) -> CompileResult:
    major, minor = torch.cuda.get_device_capability()
    return compile_cuda(boxes, CompileRequest(source, FOOTER, arch=f"sm_{major}{minor}"))


class Builder:
    """Two arrays of ``count`` float32, ``x`` (0, 1, 2, ...) and ``out``, a gate, and a runner that knows them."""

    def __init__(self, boxes: BoxMaker, preload: str = "cuda", count: int = 1000) -> None:
        self.count = count
        self._memories = CudaMemories(GPU)
        self._gate = CudaGate()
        self._arrays = [self._memories.make(name, self._layout.mapped) for name in ("x", "out")]
        started = time.perf_counter()
        self.box = boxes.start(gpu_spec(preload=preload))
        self._channel = Channel(self.box.connection)
        said: Starting = self._channel.expect(Starting, self._within(60))
        if isinstance(said, Imported):  # a spare box has been asked already
            self._channel.send({"op": "use_gpu"})
            said = self._channel.expect(Hello, self._within(60))
        assert isinstance(said, Hello)
        self.environment = said.environment
        self.start_seconds = time.perf_counter() - started
        self.reveal()

    @property
    def _layout(self) -> Any:
        return lay_out(4 * self.count, self._memories.page)

    @staticmethod
    def _within(seconds: float) -> float:
        return time.perf_counter() + seconds

    def values(self, number: int) -> torch.Tensor:
        layout = self._layout
        return self._arrays[number].bytes[layout.offset : layout.offset + layout.nbytes].view(torch.float32)

    @property
    def x(self) -> torch.Tensor:
        return self.values(0)

    @property
    def out(self) -> torch.Tensor:
        return self.values(1)

    def reveal(self) -> None:
        self.x.copy_(torch.arange(self.count, device="cuda") % 4096)
        self.out.fill_(UNWRITTEN)
        torch.cuda.synchronize()

    def load(self, message: Mapping[str, Any], artefact: bytes | None = None) -> Loaded:
        if artefact is None:
            self._channel.send({"op": "load", **message})
        else:
            with sealed(artefact) as descriptor:
                self._channel.send({"op": "load", **message}, [descriptor])
        return self._channel.expect(Loaded, self._within(30))

    def bind(self) -> None:
        layout = self._layout
        place = {
            "mapped": layout.mapped,
            "offset": layout.offset,
            "nbytes": layout.nbytes,
            "shape": [self.count],
        }
        entries: list[dict[str, Any]] = [
            {"kind": "buffer", "name": name, "dtype": "float32", **place} for name in ("x", "out")
        ]
        data = self.count.to_bytes(8, "little").hex()
        entries.append({"kind": "value", "name": "n", "dtype": "int64", "value": self.count, "data": data})
        descriptors = [self._gate.descriptor, *(array.descriptor for array in self._arrays)]
        self._channel.send({"op": "bind", "memory": "cuda", "entries": entries}, descriptors)
        self._channel.expect(Bound, self._within(20))

    def queue(self, seconds: float = 20.0) -> None:
        """Ask for a call and wait until it waits at the gate. Raises BoxSilent if it blocks."""
        self.ask()
        assert self._queued(seconds).round == self._gate.round

    def _queued(self, seconds: float) -> Queued:
        """The first answer after all compiling."""
        deadline = self._within(seconds)
        while True:
            said = self._channel.expect(OfCall, deadline)
            if isinstance(said, Queued):
                return said

    def ask(self) -> None:
        self._channel.send({"op": "call", "round": self._gate.next_round(), "mark": ""})

    def open(self, seconds: float = 20.0) -> Returned:
        """Open the gate from the judge's stream; the answer of a queued call, once it says done."""
        opened = self._gate.open()
        assert self._gate.spin_until_done(opened + seconds, self._channel.gone)
        return self._channel.expect(Returned, self._within(seconds))

    def call(self, closed: bool = True) -> Returned:
        """One round, behind the closed gate or with the gate open from the start."""
        if closed:
            self.queue()
            return self.open()
        self._gate.next_round()
        self._gate.open()
        self._channel.send({"op": "call", "round": self._gate.round, "mark": ""})
        self._queued(60)
        return self._channel.expect(Returned, self._within(60))

    def blocks_behind_the_gate(self) -> bool:
        """Whether a call does not reach "queued" while the gate is closed. It is let through afterwards."""
        try:
            self.queue(seconds=1.0)
            blocked = False
        except BoxSilent:
            blocked = True
        self._gate.open()
        if blocked:
            self._queued(20)
        self._channel.expect(Returned, self._within(20))
        return blocked

    def printed(self, wanted: bytes, seconds: float = 5.0) -> bytes:
        """The box's output, once it contains ``wanted`` or the time is over."""
        data, deadline = self.box.output(), self._within(seconds)
        while wanted not in data and time.perf_counter() < deadline:
            time.sleep(0.01)
            data += self.box.output()
        return data

    def close(self) -> None:
        self.box.kill()
        self._gate.close()
        for array in self._arrays:
            array.close()
