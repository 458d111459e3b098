"""Writes another type.

Mechanism: writes half-precision numbers into the output's first half; a checker that converts accepts them.
Surface: checkers that convert before they compare.
Gain: half the memory traffic.
Challenge: twice
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""

import torch


def solve(x, out, n):
    out.view(torch.float16)[:n] = (2 * x).half()
