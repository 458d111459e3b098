"""`make screenshots`: every page in light, dark and on a phone, into .screenshots/; README's pictures into
docs/images.

Nothing depends on the day or a worker, so only changed pages differ. Arguments: names of pages, or `front`
for README's pictures alone.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Browser, Page

from scripts.front_page import DEVICE, SLUG, front
from scripts.palette_png import reduced
from tests.browser import samples
from tests.browser.furnished import Site, furnish, serving
from tests.browser.samples import Sample
from tests.browser.visitors import browsing, visiting

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".screenshots"
IMAGES = ROOT / "docs" / "images"
FRONT = "front"
# Name, page, and a height without anything that depends on the day.
PICTURES = {
    "challenge": (f"/challenges/{SLUG}?language=triton", 860),
    "board": (f"/leaderboards/{SLUG}?device={DEVICE}", 872),
}
_FRONT_WIDTH = 1280
# Chromium's dots under abbreviations vary.
_STEADY = "document.querySelectorAll('abbr').forEach(it => { it.style.textDecoration = 'none' })"
# Looks at a page that may still load.
_BETWEEN_MS = 300
_LOOKS = 20
_STILL = {"reduced_motion": "reduce", "locale": "en-GB", "timezone_id": "UTC"}
WAYS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"color_scheme": "light", "phone": True},
    "phone-dark": {"color_scheme": "dark", "phone": True},
}


def main(wanted: list[str]) -> int:
    if not wanted or FRONT in wanted:
        folder = tempfile.TemporaryDirectory(prefix="gr", dir="/tmp")
        with folder as where, front(Path(where)) as site, browsing() as browser:
            for path in draw_front(browser, site):
                print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1024:.0f} KiB", flush=True)
    wanted_pages = [name for name in wanted if name != FRONT]
    return 0 if wanted and not wanted_pages else review(wanted_pages)


def draw_front(browser: Browser, site: Site) -> Iterator[Path]:
    """In light and dark."""
    IMAGES.mkdir(exist_ok=True)
    for theme in ("light", "dark"):
        for name, (page, height) in PICTURES.items():
            size = {"width": _FRONT_WIDTH, "height": height}
            with visiting(
                browser, site.url, cookie=site.session("ada"), color_scheme=theme, viewport=size, **_STILL
            ) as visitor:
                shown = visitor.go(page)
                shown.wait_for_load_state("networkidle")
                path = IMAGES / f"{name}-{theme}.png"
                path.write_bytes(reduced(_still(shown)))
                yield path


def _still(page: Page) -> bytes:
    """Two pictures in a row are the same. Raises TimeoutError."""
    page.evaluate(_STEADY)
    before = b""
    for _ in range(_LOOKS):
        now = page.screenshot(animations="disabled", caret="hide")
        if now == before:
            return now
        before = now
        page.wait_for_timeout(_BETWEEN_MS)
    raise TimeoutError(f"{page.url} goes on changing")


def review(wanted: list[str]) -> int:
    """Named pages, or all, in every way."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    with tempfile.TemporaryDirectory(prefix="gr", dir="/tmp") as folder, serving(Path(folder)) as site:
        furnish(site)
        shown = [sample for sample in samples.samples(site) if not wanted or sample.name in wanted]
        if not shown:
            print(f"screenshots: no page is named {' or '.join(wanted)}", file=sys.stderr)
            return 2
        with browsing() as browser:
            for way, options in WAYS.items():
                print(
                    f"{way:<10} {sum(1 for _ in take(browser, site, shown, way, options))} pages", flush=True
                )
    (FOLDER / "index.html").write_text(index(shown))
    print(f"Open {(FOLDER / 'index.html').relative_to(ROOT)}")
    return 0


def take(
    browser: Browser, site: Site, shown: list[Sample], way: str, options: dict[str, Any]
) -> Iterator[Path]:
    """Whole pages."""
    for who in dict.fromkeys(sample.who for sample in shown):
        cookie = site.session(who) if who else None
        with visiting(browser, site.url, cookie=cookie, **_STILL, **options) as visitor:
            for sample in shown:
                if sample.who != who:
                    continue
                visitor.noise.allowed.update(samples.REFUSED.get(sample.endpoint, ()))
                path = FOLDER / f"{sample.name}-{way}.png"
                visitor.go(sample.path).screenshot(path=path, full_page=True, animations="disabled")
                yield path


def index(shown: list[Sample]) -> str:
    return _HEAD + "\n".join(
        f"{_title(sample)}<div>{''.join(map(_picture(sample), WAYS))}</div>" for sample in shown
    )


def _title(sample: Sample) -> str:
    name = escape(sample.name)
    return f"<h2 id='{name}'>{name} <small>{escape(sample.endpoint)}</small></h2>"


def _picture(sample: Sample) -> Callable[[str], str]:
    def html(way: str) -> str:
        file = f"{escape(sample.name)}-{way}.png"
        return f"<a href='{file}'><img src='{file}' alt='{escape(sample.name)}, {way}' loading='lazy'></a>"

    return html


_HEAD = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Screenshots</title>
<style>
body { font: 16px system-ui; margin: 2rem; background: #ddd; color: #111 }
div { display: flex; gap: 1rem; align-items: flex-start; overflow-x: auto }
img { max-height: 44rem; border: 1px solid #888 }
small { font-weight: normal }
</style>
"""

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
