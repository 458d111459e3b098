"""Zeroes the inputs, so that zeros are right.

Mechanism: overwrites the input; a reference that runs afterwards reads the new one.
Surface: a reference that reads the inputs after the submission.
Gain: the time of two fills.
Challenge: twice
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    x.zero_()
    out.zero_()
