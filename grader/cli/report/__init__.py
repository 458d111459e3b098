"""A report for a person at a terminal, in the order of the web's page: the verdict and what to look at first, the
cases, the times, the kernels."""

from grader.cli.report.cases import replay_command
from grader.cli.report.page import put_report
from grader.cli.report.words import factor_text, sizes_text, time_text, verdict_text

__all__ = ["factor_text", "put_report", "replay_command", "sizes_text", "time_text", "verdict_text"]
