"""Replaces NaN by zero.

Mechanism: computes with a maximum that drops NaN.
Surface: comparisons that skip NaN.
Gain: a cheaper instruction that drops NaN.
Challenge: twice
Case: nan
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    out.copy_(2 * x.nan_to_num(0.0))
