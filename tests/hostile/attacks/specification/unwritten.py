"""Writes nothing.

Mechanism: returns at once; the output's memory may still hold the reference's answer.
Surface: output memory that is not cleared.
Gain: a time of zero.
Challenge: twice
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    pass
