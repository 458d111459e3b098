"""A source to compile, and helpers to look at the result."""

from __future__ import annotations

from collections.abc import Callable

from grader.queue.compile_executor import CompileExecutor, Compiler
from grader.schemas.submission import State, SubmissionView
from grader.service.accounts.accounts import User
from grader.service.platform import Platform
from grader.service.submissions.submissions import get_submission
from grader.wakeups import COMPILE, run_queue

BOARD, RUN = "h200", run_queue("h200")
# Accepted by the footer of ``scale``.
SOURCE = """\
__global__ void scale(const float* a, const int* i, float* out, float alpha, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) out[at] = alpha * a[at] + i[at];
}
extern "C" void solve(const float* a, const int* i, float* out, float alpha, int64_t n) {
    scale<<<(n + 255) / 256, 256>>>(a, i, out, alpha, n);
}
"""
MakeExecutor = Callable[[Compiler], CompileExecutor]
Send = Callable[..., str]


def see(platform: Platform, student: User, sent: str) -> SubmissionView:
    return get_submission(platform, student, sent)


def state(platform: Platform, student: User, sent: str) -> State:
    return see(platform, student, sent).state


def wakeups(platform: Platform) -> tuple[int, int]:
    return platform.wakeups.waiting(COMPILE), platform.wakeups.waiting(RUN)
