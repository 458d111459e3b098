"""Replaces NaN by zero.

Mechanism: computes with what a maximum leaves of NaN.
Surface: comparisons that leave NaN out.
Gain: an instruction that treats NaN in its own way.
Challenge: twice
Case: nan
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    out.copy_(2 * x.nan_to_num(0.0))
