"""What company does to the rounds of a control and of an honest kernel: each kind of company in turn, and none.

With two GPUs it shows what makes rounds take one more switch between contexts while the other GPU is busy. Kinds
marked "here" run on the judged GPU itself: they show what a disturbance looks like.

Usage: python benchmarks/gpu/beside.py [--json] [--gpu N] [--other N] [--rounds N] [--seconds S] [--only TEXT ...]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

HERE = Path(__file__).resolve().parent
WORKLOAD = "2^28"
# A round slower than the fastest quarter by this had company (``CudaDevice.noise``).
DISTURBED_S = 30e-6
READY = "ready"
READY_SECONDS = 40.0
# Seconds after which company that keeps starting and ending is killed.
LIFE_SECONDS = 1.5
HELD_BYTES = 4 << 30


def kernels(size: int, at_once: int) -> None:
    import torch

    values = torch.zeros(size, device="cuda")
    torch.cuda.synchronize()
    print(READY, flush=True)
    while True:
        for _ in range(at_once):
            values.add_(1.0)
        torch.cuda.synchronize()


def long_kernels() -> None:
    kernels(1 << 28, 20)


def short_kernels() -> None:
    kernels(1 << 10, 1)


def copies_on_device() -> None:
    import torch

    first, second = (torch.zeros(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(2))
    print(READY, flush=True)
    while True:
        second.copy_(first)
        torch.cuda.synchronize()


def copies_to_host() -> None:
    import torch

    device = torch.zeros(1 << 28, dtype=torch.uint8, device="cuda")
    host = torch.zeros(1 << 28, dtype=torch.uint8, pin_memory=True)
    print(READY, flush=True)
    while True:
        host.copy_(device, non_blocking=True)
        device.copy_(host, non_blocking=True)
        torch.cuda.synchronize()


def host_threads() -> None:
    """As many processes as there are cores, which only compute."""
    children = []
    for _ in range(os.cpu_count() or 1):
        child = os.fork()
        if not child:
            while True:
                sum(range(1000))
        children.append(child)
    print(READY, flush=True)
    signal.pause()


def imports() -> None:
    """What a box does before it uses the GPU, again and again."""
    said = False
    while True:
        subprocess.run([sys.executable, "-c", "import torch, triton.language"], check=True)
        if not said:
            print(READY, flush=True)
            said = True


def contexts() -> None:
    """A process that makes a context, holds memory and works, and is killed; then the next one."""
    said = False
    while True:
        child = subprocess.Popen([sys.executable, __file__, "--company", "holding"], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        if not said:
            print(READY, flush=True)
            said = True
        time.sleep(LIFE_SECONDS)
        child.kill()
        child.wait()


def holding() -> None:
    import torch

    held = torch.zeros(HELD_BYTES, dtype=torch.uint8, device="cuda")
    held.zero_()
    kernels(1 << 26, 20)


def idle_context() -> None:
    import torch

    torch.zeros(1, device="cuda")
    torch.cuda.synchronize()
    print(READY, flush=True)
    signal.pause()


def idle_context_on_both() -> None:
    """Works on the other GPU; a context on the judged one, which does nothing."""
    import torch

    for index in range(torch.cuda.device_count()):
        torch.zeros(1, device=f"cuda:{index}")
    torch.cuda.set_device(torch.cuda.device_count() - 1)
    long_kernels()


def monitoring() -> None:
    from grader.judge.cuda import nvml
    from grader.sandbox.gpu import nvidia_gpus

    monitors = [nvml.Monitor(gpu.uuid) for gpu in nvidia_gpus()]
    print(READY, flush=True)
    while True:
        for monitor in monitors:
            monitor.sample()


COMPANY: dict[str, Callable[[], None]] = {
    company.__name__.replace("_", " "): company
    for company in (
        long_kernels,
        short_kernels,
        copies_on_device,
        copies_to_host,
        host_threads,
        imports,
        contexts,
        holding,
        idle_context,
        idle_context_on_both,
        monitoring,
    )
}
# Kind -> where: on the other GPU, "here" on the judged one, on "both", on none, or "judge": the judge's own program.
CHOSEN: tuple[tuple[str, str], ...] = (
    ("none", "none"),
    ("long kernels", "other"),
    ("short kernels", "other"),
    ("copies on device", "other"),
    ("copies to host", "other"),
    ("contexts", "other"),
    ("gradings", "other"),
    ("none", "none"),
    ("host threads", "none"),
    ("imports", "none"),
    ("monitoring", "both"),
    ("idle context on both", "both"),
    ("idle context", "here"),
    ("same process", "other"),
    ("copies to host", "here"),
    ("short kernels", "here"),
    ("contexts", "here"),
    ("killed just now", "here"),
    ("none", "none"),
)


def judging(gpu: int) -> list[str]:
    words = "--box local --count 99 --processes 0 --seconds 120 --device h200 --only".split()
    return [sys.executable, str(HERE / "repeatability.py"), "--gpu", str(gpu), *words, "vector_add, CUDA"]


@contextlib.contextmanager
def company(kind: str, where: str, gpu: int, other: int) -> Iterator[None]:
    """Company of this kind, from when it is ready on."""
    if kind == "none":
        yield
        return
    if kind == "same process":
        with in_this_process(other):
            yield
        return
    visible = {"other": str(other), "here": str(gpu), "both": f"{gpu},{other}", "none": ""}[where]
    name = "holding" if kind == "killed just now" else kind
    command = [sys.executable, __file__, "--company", name]
    environment = {**os.environ, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    if kind == "gradings":
        command, sign = judging(other), "grading 1"
    else:
        environment["CUDA_VISIBLE_DEVICES"], sign = visible, READY
    process = subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        wait_for(process, sign)
        if kind == "killed just now":
            time.sleep(LIFE_SECONDS)
            process.kill()
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(process: subprocess.Popen[str], sign: str) -> None:
    """Raises RuntimeError if it does not say so. Goes on reading its output, so that it never blocks."""
    assert process.stdout is not None
    said = threading.Event()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if sign in line:
                said.set()

    threading.Thread(target=read, daemon=True).start()
    if not said.wait(READY_SECONDS):
        raise RuntimeError("the company is not ready")


@contextlib.contextmanager
def in_this_process(other: int) -> Iterator[None]:
    """A thread of the judge's own process works on the other GPU."""
    import torch

    over, begun = threading.Event(), threading.Event()

    def work() -> None:
        torch.cuda.set_device(other)
        values = torch.zeros(1 << 26, device=f"cuda:{other}")
        while not over.is_set():
            values.add_(1.0)
            torch.cuda.synchronize(other)
            begun.set()

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait(READY_SECONDS)
    try:
        yield
    finally:
        over.set()
        thread.join()


def slow_share(seconds: Sequence[float]) -> float:
    quick = sorted(seconds)[len(seconds) // 4]
    return sum(time > quick + DISTURBED_S for time in seconds) / len(seconds)


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    from raw_rounds import packed
    from subjects import narrowed

    from grader.challenge.catalogue import find_catalogue
    from grader.challenge.signature import cuda_footer
    from grader.judge.device import make_device
    from grader.judge.launch import Launcher
    from grader.judge.request import Request
    from grader.judge.rule import settle
    from grader.judge.timekeeper import Reading
    from grader.judge.timing import Stopwatch
    from grader.judge.tuning import tune
    from grader.languages import Language
    from grader.sandbox.choose import make_boxes
    from grader.sandbox.compiler.nvcc import CompileRequest, compile_cuda

    began = time.perf_counter()
    tune()
    device, boxes = make_device("h200", options.gpu), make_boxes("local")
    count = options.rounds
    changed = replace(device.plan, rounds=count, most_rounds=count, control_rounds=count)
    device.plan = changed  # type: ignore[misc]
    catalogue = find_catalogue()
    whole = catalogue.load("vector_add")
    workload = next(workload for workload in whole.manifest.workloads if workload.name == WORKLOAD)
    challenge = narrowed(whole, [workload])
    source = (catalogue.root / "reference/vector_add/staff/solution.cu").read_text()
    footer = cuda_footer(challenge.manifest)
    artefact = compile_cuda(boxes, CompileRequest(source, footer, arch=device.architecture)).artefact
    rows = []
    usual = 0.0
    for number, (kind, where) in enumerate(CHOSEN):
        if options.only and not any(text in kind for text in options.only) and kind != "none":
            continue
        if time.perf_counter() - began > options.seconds:
            print(f"out of time before '{kind}', {where}", flush=True)
            break
        request = Request(challenge, Language.CUDA, source, device.name, os.urandom(32), [])
        launcher = Launcher(request, device, boxes, lambda: None, artefact)

        def watch(part: str, request: Request = request, number: int = number) -> Stopwatch:
            return Stopwatch(challenge, workload, request.seed_key, device, f"{part} {number}")

        try:
            control, subject = launcher.control(), launcher.submission()
            with company(kind, where, options.gpu, options.other):
                before = watch("before").control(control)
                own = watch("own").own(subject)
                subject.close()
                after = watch("after").control(control)
            measured = settle(own, before, after, device.noise)
        except Exception as error:  # one kind of company that fails must not lose the others
            print(f"{kind}, {where}: {type(error).__name__}: {error}", flush=True)
            continue
        finally:
            launcher.close()
        costs = [[entry.gate - known for entry, known in half] for half in (before, after)]
        gates = [entry.gate for entry in own.rounds]
        usual = usual or statistics.median(costs[0])
        row = {
            "company": kind,
            "where": where,
            "time_us": round(measured.time.value * 1e6, 2),
            "c_us": [round(statistics.median(times) * 1e6, 1) for times in costs],
            "control_slow": [round(slow_share(times), 3) for times in costs],
            "control_slower_than_alone": [
                round(sum(one > usual + DISTURBED_S for one in times) / len(times), 3) for times in costs
            ],
            "own_slow": round(slow_share(gates), 3),
            "own_us": [
                round(seconds * 1e6, 1) for seconds in (min(gates), statistics.median(gates), max(gates))
            ],
            "rounds": packed(Reading(workload, measured, own, before, after)),
        }
        rows.append(row)
        print("  ".join(f"{name} {value}" for name, value in row.items() if name != "rounds"), flush=True)
    boxes.reap()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--gpu", type=int, default=0, help="the judged one")
    parser.add_argument("--other", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=120.0, help="start nothing more after this")
    parser.add_argument("--only", nargs="*", default=[], help="kinds whose names contain one of these")
    parser.add_argument("--company", choices=COMPANY, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.company:
        COMPANY[options.company]()
        return
    rows = measure(options)
    if options.json:
        from results import keep

        keep("_".join(["beside", *options.only]).replace(" ", "_"), {"rounds": options.rounds, "rows": rows})


if __name__ == "__main__":
    main()
