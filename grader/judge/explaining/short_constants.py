"""Well-known numbers with too few digits."""

from __future__ import annotations

import math
import re

_KNOWN = {
    "sqrt(2)": math.sqrt(2), "1 / sqrt(2)": math.sqrt(0.5), "pi": math.pi, "2 * pi": 2 * math.pi, "1 / pi": 1 / math.pi,
    "sqrt(pi)": math.sqrt(math.pi), "1 / sqrt(pi)": 1 / math.sqrt(math.pi), "2 / sqrt(pi)": 2 / math.sqrt(math.pi),
    "sqrt(2 / pi)": math.sqrt(2 / math.pi), "sqrt(2 * pi)": math.sqrt(2 * math.pi),
    "1 / sqrt(2 * pi)": 1 / math.sqrt(2 * math.pi), "e": math.e, "log2(e)": math.log2(math.e), "ln(2)": math.log(2),
    "log10(e)": math.log10(math.e), "ln(10)": math.log(10),
}  # fmt: skip
_LITERAL = re.compile(r"(?<![\w.])(\d+\.\d{2,}|\.\d{2,})[fFlL]?\b(?![.\w])")
# Digits of float32; shorter numbers may be anything.
_DIGITS, _FEWEST = 7, 3


def short_constant(lines: list[str], most: float) -> str:
    """``most``: relative error. ``lines``: without comments."""
    for number, line in enumerate(lines, 1):
        for match in _LITERAL.finditer(line):
            written = match[1]
            digits = len(written.replace(".", "").lstrip("0"))
            if not _FEWEST <= digits <= _DIGITS:
                continue
            places = len(written.partition(".")[2])
            for name, value in _KNOWN.items():
                cut = math.floor(value * 10**places) / 10**places
                if written.lstrip("0") not in (
                    f"{value:.{places}f}".lstrip("0"), f"{cut:.{places}f}".lstrip("0"),
                ):  # fmt: skip
                    continue
                off = abs(float(written) / value - 1)
                if off > most:
                    return (
                        f"Line {number} writes {name} as {written}, which is off by {off:.1g} of its value: write more "
                        f"digits, {value:.10g}."
                    )
    return ""


def approximation_of_gelu(lines: list[str]) -> str:
    for number, line in enumerate(lines, 1):
        if "1.702" in line:
            return (
                f"Line {number} is of GELU's approximation by a sigmoid (1.702), which is off by up to 0.02: the exact "
                "one is 0.5 * x * (1 + erf(x / sqrt(2)))."
            )
        if "0.044715" in line or ".04471" in line:
            return (
                f"Line {number} is of GELU's approximation by tanh (0.044715), which is off by up to 5e-4: the exact "
                "one is 0.5 * x * (1 + erf(x / sqrt(2)))."
            )
    return ""
