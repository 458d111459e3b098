"""Puts other memory under the output tensor.

Mechanism: exchanges the output's storage for another, which only this process sees.
Surface: the place where the judge reads the result.
Gain: the time of a copy.
Challenge: twice
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    out.set_(2 * x)
