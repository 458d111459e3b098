"""`make screenshots`: every page at a desk in light and in dark, and on a phone, into .screenshots/ for review.

What is shown is made: people, boards, and a submission in every state, on a platform of its own in which no worker
runs, so that two runs differ only where the pages do. Names of pages as arguments take only those.
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

from playwright.sync_api import Browser

from tests.browser import samples
from tests.browser.furnished import Site, furnish, serving
from tests.browser.samples import Sample
from tests.browser.visitors import browsing, visiting

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".screenshots"
# Nothing moves while it is taken.
_STILL = {"reduced_motion": "reduce", "locale": "en-GB", "timezone_id": "UTC"}
WAYS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"color_scheme": "light", "phone": True},
    "phone-dark": {"color_scheme": "dark", "phone": True},
}


def main(wanted: list[str]) -> int:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    with tempfile.TemporaryDirectory(prefix="gr", dir="/tmp") as folder, serving(Path(folder)) as site:
        furnish(site)
        shown = [it for it in samples.samples(site) if not wanted or it.name in wanted]
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
    """A picture of each page from top to bottom, one after the other."""
    for who in dict.fromkeys(it.who for it in shown):
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
    """A page that holds them side by side."""
    return _HEAD + "\n".join(f"{_title(it)}<div>{''.join(map(_picture(it), WAYS))}</div>" for it in shown)


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
