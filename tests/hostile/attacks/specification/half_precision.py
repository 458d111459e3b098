"""Computes in half precision.

Mechanism: converts to 16 bits, computes, and converts back.
Surface: a tolerance that is wide enough for the wrong type.
Gain: half the registers, twice the rate.
Challenge: twice
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    out.copy_((x.half() * 2).float())
