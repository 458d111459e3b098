"""The platform of README's pictures: a challenge with a kernel in the editor, and a GPU's board.

Times, people and dates are made up, so each run draws the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import select

from grader.challenge.catalogue import find_catalogue
from grader.records.engine import writing
from grader.records.models import SubmissionRow
from grader.schemas.draft import DraftBody
from grader.schemas.report import CaseReport, CaseVerdict, Language, Report, Score, Verdict, WorkloadReport
from grader.service.accounts import accounts
from grader.service.accounts.accounts import Role
from grader.service.submissions import drafts
from tests.browser.furnished import Site, serving
from tests.web import builders

SLUG = "softmax"
VERSION = find_catalogue().load(SLUG).manifest.version
DEVICE = "h200"
# "edsger" ties with "grace".
_ENTRIES = (
    ("barbara", Language.CUDA, 208.4),
    ("grace", Language.TRITON, 214.9),
    ("edsger", Language.CUDA, 215.6),
    ("ada", Language.TRITON, 231.7),
    ("linus", Language.CUDA, 268.2),
    ("bob", Language.TRITON, 301.5),
    ("margaret", Language.TRITON, 422.8),
    ("dennis", Language.CUDA, 655.3),
)
_STAFF_US, _EAGER_US, _COMPILE_US, _LIGHT_US = 197.2, 389.0, 243.1, 171.8
_ERROR = 0.004
_BEGAN = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)

_KERNEL = """import triton
import triton.language as tl


@triton.jit
def softmax(x, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * cols
    i = tl.arange(0, BLOCK)
    inside = i < cols
    v = tl.load(x + row + i, inside, -float("inf"))
    # NaN stays: the maximum must not drop it.
    top = tl.max(v, 0, propagate_nan=True)
    e = tl.exp(v - top)
    tl.store(out + row + i, e / tl.sum(e, 0), inside)


def solve(x, out, rows, cols):
    if rows == 0 or cols == 0:
        return
    block = triton.next_power_of_2(cols)
    softmax[(rows,)](x, out, cols, BLOCK=block)
"""


@contextmanager
def front(folder: Path) -> Iterator[Site]:
    with serving(folder, GRADER_DEVICES=DEVICE) as site:
        known = {*site.people}
        for name, *_ in _ENTRIES:
            if name not in known:
                site.people[name] = accounts.create_user(site.platform, name, builders.PASSWORD, Role.STUDENT)
        for name, _, time_us in (*_ENTRIES, ("boss", Language.CUDA, _STAFF_US)):
            builders.judged(site.platform, site.people[name], _report(time_us), challenge=SLUG)
        _settle(site)
        drafts.keep_draft(site.platform, site.ada, SLUG, Language.TRITON, DraftBody(source=_KERNEL))
        yield site


def _report(time_us: float) -> Report:
    interval = (time_us * (1 - _ERROR), time_us * (1 + _ERROR))
    workload = WorkloadReport(
        name="65536 x 4096",
        sizes={"rows": 65536, "cols": 4096},
        ranked=True,
        time_us=time_us,
        ci_us=interval,
        rounds=41,
        baselines_us={"eager": _EAGER_US, "compile": _COMPILE_US},
        roofline_us=_LIGHT_US,
        speedup=_EAGER_US / time_us,
        sol=_LIGHT_US / time_us,
    )
    case = CaseReport(name="basic", category="basic", verdict=CaseVerdict.ACCEPTED, seed=7, seconds=0.01)
    return Report(
        challenge=SLUG,
        version=VERSION,
        language=Language.TRITON,
        device=DEVICE,
        verdict=Verdict.ACCEPTED,
        cases=[case],
        workloads=[workload],
        score=Score(time_us=time_us, ci=interval, speedup=_EAGER_US / time_us, passed=32, total=32),
    )


def _settle(site: Site) -> None:
    """Like a GPU's worker, on fixed days."""
    languages = [language for _, language, _ in _ENTRIES]
    with writing(site.platform.sessions) as session:
        rows = session.scalars(select(SubmissionRow).order_by(SubmissionRow.id))
        for row, language in zip(rows, [*languages, Language.CUDA], strict=True):
            row.device, row.language = DEVICE, language
            row.created_at = _BEGAN + timedelta(hours=31 * (row.id * 5 % 9))
