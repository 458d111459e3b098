"""Writes nothing.

Mechanism: returns at once; the output may hold the reference's answer from an earlier use of the same memory.
Surface: output memory that is handed over as it was.
Gain: a time of nothing.
Challenge: twice
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    pass
