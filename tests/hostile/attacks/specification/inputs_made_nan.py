"""Fills inputs and outputs with NaN.

Mechanism: overwrites both with NaN; a comparison by "not greater than the tolerance" holds for NaN.
Surface: comparisons that NaN passes.
Gain: the time of two fills.
Challenge: twice
Like: inputs_zeroed
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    x.fill_(float("nan"))
    out.fill_(float("nan"))
