"""How heavy each page is, and how soon it shows: a small Lighthouse, on loopback, in Debian's Chromium.

For every page of the screenshots, the median of some visits by a browser with an empty cache: the largest contentful
paint (ms), layout shifts (0 is none), and the bytes of scripts and styles, as sent and gzipped.

Targets: the largest paint under 1 s, shifts under 0.1, at most 150 kB of script, compressed, beyond the editor.

Usage: python benchmarks/page_weight.py [--json] [--visits N] [--only NAME]
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from playwright.sync_api import Browser, Page, Request
from results import keep

from tests.browser import samples
from tests.browser.furnished import Site, furnish, serving
from tests.browser.samples import Sample
from tests.browser.visitors import browsing, visiting

PAINT_MS = 1000.0
# What Google's "good" is for the sum of layout shifts.
SHIFT = 0.1
SCRIPT_BYTES = 150_000
# Scripts of the editor, by their files' names.
EDITOR = "editor"

# Observers are installed before the page, because both are reported late.
_OBSERVE = """
window.paints = []; window.shifts = 0;
new PerformanceObserver(list => window.paints.push(...list.getEntries().map(it => it.startTime)))
    .observe({type: 'largest-contentful-paint', buffered: true});
new PerformanceObserver(list => {
    for (const it of list.getEntries()) if (!it.hadRecentInput) window.shifts += it.value;
}).observe({type: 'layout-shift', buffered: true});
"""


@dataclass
class Weight:
    """Bytes by kind (``script``, ``stylesheet``, ``document``): as they came, and what gzip makes of them."""

    sent: dict[str, int] = field(default_factory=dict)
    gzipped: dict[str, int] = field(default_factory=dict)
    editor: int = 0

    def add(self, request: Request) -> None:
        answer = request.response()
        if answer is None or not answer.ok:
            return
        kind, body = request.resource_type, answer.body()
        packed = len(gzip.compress(body, 9))
        if kind == "script" and EDITOR in request.url.rpartition("/")[2]:
            self.editor += packed
            return
        self.sent[kind] = self.sent.get(kind, 0) + request.sizes()["responseBodySize"]
        self.gzipped[kind] = self.gzipped.get(kind, 0) + packed


def visit(browser: Browser, site: Site, sample: Sample) -> dict[str, float]:
    """One visit with an empty cache."""
    cookie = site.session(sample.who) if sample.who else None
    weight, requests = Weight(), list[Request]()
    with visiting(browser, site.url, cookie=cookie) as visitor:
        visitor.noise.allowed.update(samples.REFUSED.get(sample.endpoint, ()))
        visitor.page.add_init_script(_OBSERVE)
        visitor.page.on("requestfinished", lambda request: requests.append(request))
        page = visitor.go(sample.path)
        paint, shift = settled(page)
        for request in requests:
            weight.add(request)
    return {
        "largest_paint_ms": paint,
        "shift": shift,
        "script_gzip_bytes": weight.gzipped.get("script", 0),
        "editor_gzip_bytes": weight.editor,
        "style_gzip_bytes": weight.gzipped.get("stylesheet", 0),
        "document_gzip_bytes": weight.gzipped.get("document", 0),
        "script_sent_bytes": weight.sent.get("script", 0),
        "style_sent_bytes": weight.sent.get("stylesheet", 0),
    }


def settled(page: Page) -> tuple[float, float]:
    """The largest paint (ms after the navigation began) and the sum of shifts, once something was painted and two
    further frames have passed."""
    page.wait_for_function("() => window.paints.length > 0")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    found: dict[str, Any] = page.evaluate("() => ({paint: Math.max(...paints), shift: shifts})")
    return round(found["paint"], 1), round(found["shift"], 4)


def measure(options: argparse.Namespace) -> dict[str, dict[str, float]]:
    found = {}
    with tempfile.TemporaryDirectory(prefix="gr", dir="/tmp") as folder, serving(Path(folder)) as site:
        furnish(site)
        with browsing() as browser:
            for sample in samples.samples(site):
                if not sample.name.startswith(options.only):
                    continue
                visits = [visit(browser, site, sample) for _ in range(options.visits)]
                found[sample.name] = {
                    key: statistics.median(visit[key] for visit in visits) for key in visits[0]
                }
                print(f"  {sample.name:<28} {_told(found[sample.name])}", flush=True)
    return found


def _told(page: dict[str, float]) -> str:
    kilobytes = "  ".join(
        f"{kind} {page[f'{kind}_gzip_bytes'] / 1e3:6.1f} kB"
        for kind in ("script", "editor", "style", "document")
    )
    return f"paint {page['largest_paint_ms']:7.1f} ms  shift {page['shift']:6.4f}  gzipped: {kilobytes}"


def misses(page: dict[str, float]) -> bool:
    return (
        page["largest_paint_ms"] >= PAINT_MS
        or page["shift"] >= SHIFT
        or page["script_gzip_bytes"] > SCRIPT_BYTES
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--visits", type=int, default=5)
    parser.add_argument("--only", default="", help="only pages whose name begins with this")
    options = parser.parse_args()
    found = measure(options)
    missed = [name for name, page in found.items() if misses(page)]
    print(f"targets: {'MISSED by ' + ', '.join(missed) if missed else 'met'}")
    if options.json:
        targets = {"paint_ms": PAINT_MS, "shift": SHIFT, "script_gzip_bytes": SCRIPT_BYTES}
        keep("page_weight", {"visits": options.visits, "targets": targets, "pages": found})
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
