"""What hardening costs: how long a Docker box takes to start, with Docker's defaults and with ours.

Two boxes take turns, so the host's other work falls on both: one as a submission gets it (torch and Triton's
interpreter imported, from the call to its hello), and a bare one whose program only connects. Target for both: at
most 1.20 times as long. Also: how long the end of a box takes, until its last process is gone.

Usage: python benchmarks/box_start.py [--json] [--boxes N]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from results import keep

from grader.sandbox import container
from grader.sandbox.box import BoxMaker, BoxPurpose, BoxSpec
from grader.sandbox.choose import make_boxes

SPECS = {
    "submission": BoxSpec(BoxPurpose.RUN, env={"GRADER_PRELOAD": "triton"}),
    "bare": BoxSpec(BoxPurpose.RUN, program="probe.py"),
}
MOST = 1.20
# Between a start and an end: the engine has its own work after a start.
SETTLE_SECONDS = 0.1
hardened = container.host_config


def plain(*arguments: Any) -> dict[str, Any]:
    """What a box was made with before: no profile of ours, Docker's own list of hidden paths."""
    config = hardened(*arguments)
    config["SecurityOpt"] = ["no-new-privileges"]
    del config["MaskedPaths"], config["ReadonlyPaths"]
    return config


def start_and_end_seconds(
    maker: BoxMaker, spec: BoxSpec, config: Callable[..., dict[str, Any]]
) -> tuple[float, float]:
    """From the call to the connection, or to the runner's hello where it says one; and of the end."""
    container.host_config = config
    try:
        began = time.perf_counter()
        box = maker.start(spec)
        try:
            box.connection.settimeout(120)
            if spec.program == "main.py" and not box.connection.recv(4):
                raise SystemExit("the box said nothing")
            started = time.perf_counter() - began
            time.sleep(SETTLE_SECONDS)
            began = time.perf_counter()
            box.kill()
            return started, time.perf_counter() - began
        finally:
            box.kill()
    finally:
        container.host_config = hardened


def measure(maker: BoxMaker, spec: BoxSpec, boxes: int) -> dict[str, float]:
    configs = {"plain": plain, "hardened": hardened}
    for config in configs.values():  # warms the disk cache
        start_and_end_seconds(maker, spec, config)
    times: dict[str, list[float]] = {name: [] for name in configs}
    ends: list[float] = []
    for number in range(boxes):
        for name in list(configs)[:: 1 if number % 2 else -1]:
            started, ended = start_and_end_seconds(maker, spec, configs[name])
            times[name].append(started)
            ends.append(ended)
    median = {name: statistics.median(found) for name, found in times.items()}
    pairs = [after / before for before, after in zip(times["plain"], times["hardened"], strict=True)]
    ratio = median["hardened"] / median["plain"]
    least = {f"least_{name}": min(found) for name, found in times.items()}
    of_pairs = statistics.median(pairs)
    return {
        **median,
        **least,
        "ratio": ratio,
        "median_ratio_of_pairs": of_pairs,
        "end": statistics.median(ends),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--boxes", type=int, default=15)
    options = parser.parse_args()
    maker = make_boxes("docker")
    found = {name: measure(maker, spec, options.boxes) for name, spec in SPECS.items()}
    for name, told in found.items():
        print(
            f"{name}: {told['plain']:.3f} s with Docker's defaults, {told['hardened']:.3f} s hardened, "
            f"{told['ratio']:.3f} times (median of {options.boxes}; of pairs {told['median_ratio_of_pairs']:.3f}); "
            f"its end {1000 * told['end']:.0f} ms"
        )
    if options.json:
        keep(
            "box_start",
            {
                "unit": "s from the call on (end: of the end), median",
                "boxes": options.boxes,
                **found,
                "target_ratio": MOST,
            },
        )
    if any(told["ratio"] > MOST for told in found.values()):
        raise SystemExit(f"over the target of {MOST}")


if __name__ == "__main__":
    main()
