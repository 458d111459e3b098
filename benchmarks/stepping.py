"""How long a step takes in Chromium, how soon a block is ready, and how large its bundles are.

For each challenge with a CUDA solution, the first block of the first public case that can be stepped: the program that
was judged, and the one with variables' names. Steps are those of the page: one instruction on, to the next access, one
instruction back, a jump to a random instruction, each until what the page shows has changed; and the engine's part of
it in the worker, before anything is drawn.

Usage: python benchmarks/stepping.py [--json] [--steps N] [--only NAME]. Needs nvcc, the emulated GPU's engine, the
engine for pages (``sandbox/emulator/build.sh --wasm web/static/built``) and Chromium.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from playwright.sync_api import Browser, Page
from results import keep

from grader.challenge.catalogue import find_catalogue
from grader.challenge.loader import Challenge
from grader.judge.arena import Arena
from grader.judge.oracle import ask, scalar_values
from grader.sandbox.emulator.stepping.recorder import Choice, Recorder
from grader.sandbox.toolkit import cuda_home
from grader.schemas.report import CaseVerdict, Verdict
from grader.schemas.step import StepBundle
from tests import stepping
from tests.browser.furnished import Site, serving
from tests.browser.visitors import browsing, visiting
from tests.emulator.judging import SEED, Table, compile_source
from tests.web import builders

CATALOGUE = find_catalogue()
# Cases of a challenge that are tried, in order.
_TRIED = 4
_READY_MS = 60_000
# What a question to the worker takes, with the page's drawing: from the event to the frame after the answer.
_STEP = """([kind, row]) => new Promise((done) => {
    const slider = document.querySelector("[data-slider]"), status = document.querySelector("[data-status]");
    const began = performance.now();
    const seen = new MutationObserver(() => {
        seen.disconnect();
        done([performance.now() - began, Number(document.querySelector("#stepper").dataset.took)]);
    });
    seen.observe(status, { childList: true, characterData: true, subtree: true });
    if (kind === "jump") {
        slider.value = String(row);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
    } else document.querySelector(`[data-step="${kind}"]`).click();
})"""
_READY = """() => new Promise((done) => {
    const status = document.querySelector("[data-status]");
    const look = () => status.textContent.startsWith("Loading") ? setTimeout(look, 1) : done(performance.now());
    look();
})"""


def solution_of(slug: str) -> Path:
    return CATALOGUE.root / "reference" / slug / "staff" / "solution.cu"


def several(slug: str) -> bool:
    """A page steps through one GPU's launches."""
    return CATALOGUE.load(slug).manifest.gpus > 1


def recorded(challenge: Challenge, folder: Path) -> tuple[str, Recorder]:
    """A case's name and its first block, or why there is none."""
    library = compile_source(challenge, solution_of(challenge.slug), folder)
    names = library.with_suffix(".ptx")
    home = cuda_home()
    assert home is not None
    command = [home / "bin" / "nvcc", "-ptx", "-G", "-std=c++17", "-arch=compute_90a", "-o", names]
    subprocess.run([*command, library.with_suffix(".cu")], check=True, capture_output=True)
    cases = challenge.suite("cpu", hidden=False)
    for case in cases[:_TRIED]:
        table = Table(library, threads=1)
        arena = Arena(challenge.manifest, case.sizes, scalar_values(challenge.manifest, case))
        try:
            arena.reveal(ask(challenge, case, SEED).inputs)
            recorder = table.engine.record(Choice())
            recorder.texts = [names.read_text()]
            table.call(arena)
            recorder.finish()
        finally:
            arena.close()
            table.close()
        if recorder.bundle:
            break
    return case.name, recorder


def handed_in(site: Site, slug: str, case_name: str, recorder: Recorder) -> str:
    """The path of a page that steps through the block."""
    base = stepping.report(builders.accepted(), StepBundle(**recorder.told()))
    case = base.cases[0].model_copy(update={"name": case_name, "verdict": CaseVerdict.ACCEPTED, "detail": ""})
    report = base.model_copy(update={"cases": [case], "verdict": Verdict.ACCEPTED})
    view = builders.judged(site.platform, site.ada, report, source=solution_of(slug).read_text())
    return f"/submissions/{view.id}/step"


def stepped(page: Page, rows: int, steps: int, draw: random.Random) -> dict[str, list[float]]:
    """Milliseconds by kind of step, those of the engine in the worker under "engine"."""
    found: dict[str, list[float]] = {"engine": []}
    kinds: dict[str, Callable[[], int]] = {
        "row": lambda: 0,
        "row-back": lambda: 0,
        "forward": lambda: 0,
        "jump": lambda: draw.randrange(1, rows),
    }
    for kind, row in kinds.items():
        # So that there is something before and after it.
        page.evaluate(_STEP, ["jump", rows // 2 + draw.randrange(2, max(3, rows // 4))])
        both = [page.evaluate(_STEP, [kind, row()]) for _ in range(min(steps, max(2, rows // 4)))]
        found[kind] = [whole for whole, _ in both]
        found["engine"] += [engine for _, engine in both]
    return found


def visit(browser: Browser, site: Site, path: str, steps: int) -> dict[str, Any]:
    with visiting(browser, site.url, cookie=site.session("ada")) as visitor:
        page = visitor.page
        page.set_default_timeout(_READY_MS)
        visitor.go(path)
        ready = page.evaluate(_READY)
        rows = int(page.locator("[data-slider]").get_attribute("max") or 0)
        times = stepped(page, rows, steps, random.Random(1))
        engine = times.pop("engine")
    every = [each for kind in times.values() for each in kind]
    return {
        "rows": rows,
        "ready_ms": round(ready, 1),
        "step_ms": _summary(every),
        "engine_ms": _summary(engine),
        **{f"{kind.replace('-', '_')}_ms": _summary(each) for kind, each in times.items()},
        "times": every,
        "engine": engine,
    }


def _summary(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "median": round(statistics.median(ordered), 2),
        "p95": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 2),
        "steps": len(ordered),
    }


def measure(options: argparse.Namespace) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    refused: dict[str, str] = {}
    with (
        tempfile.TemporaryDirectory(prefix="gr", dir="/tmp") as folder,
        serving(Path(folder)) as site,
        browsing() as browser,
    ):
        for slug in CATALOGUE.slugs():
            if options.only not in slug or not solution_of(slug).exists() or several(slug):
                continue
            case, recorder = recorded(CATALOGUE.load(slug), Path(folder))
            if not recorder.bundle:
                refused[slug] = recorder.why
                print(f"  {slug:<24} {refused[slug]}", flush=True)
                continue
            path = handed_in(site, slug, case, recorder)
            for program, bundle in (("judged", recorder.bundle), ("named", recorder.named)):
                if not bundle:
                    refused[f"{slug} ({program})"] = recorder.named_why
                    continue
                row = {"challenge": slug, "case": case, "program": program, "bundle_bytes": len(bundle)}
                row |= visit(browser, site, f"{path}?program={program}", options.steps)
                found.append(row)
                print(f"  {slug:<24} {program:<7} {row['rows']:>7} rows, {len(bundle):>6} bytes, ready "
                      f"{row['ready_ms']:>6} ms, step {row['step_ms']['median']} ms", flush=True)  # fmt: skip
    return {"rows": found, "refused": refused}


def totals(figures: dict[str, Any]) -> dict[str, Any]:
    """Over all blocks, by program."""
    found: dict[str, Any] = {}
    for program in ("judged", "named"):
        rows = [row for row in figures["rows"] if row["program"] == program]
        if not rows:
            continue
        found[program] = {
            "blocks": len(rows),
            "step_ms": _summary([each for row in rows for each in row["times"]]),
            "engine_ms": _summary([each for row in rows for each in row["engine"]]),
            "ready_ms": _summary([row["ready_ms"] for row in rows]),
            "bundle_bytes": {
                "median": statistics.median(row["bundle_bytes"] for row in rows),
                "most": max(row["bundle_bytes"] for row in rows),
            },
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="keep the figures in benchmarks/results")
    parser.add_argument("--steps", type=int, default=40, help="steps of each kind and block")
    parser.add_argument("--note", default="", help="what else the figures depend on, kept with them")
    parser.add_argument("--only", default="", help="challenges whose names contain this")
    options = parser.parse_args()
    figures = measure(options)
    figures = {"note": options.note, "all": totals(figures), **figures}
    for row in figures["rows"]:
        del row["times"], row["engine"]
    for program, each in figures["all"].items():
        print(program, each)
    if options.json:
        keep("stepping", figures)


if __name__ == "__main__":
    main()
