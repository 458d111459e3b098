"""Writes one number everywhere.

Mechanism: fills the output with the mean of the answers, close to all of them if inputs are narrow.
Surface: the choice of compared elements, and their tolerance.
Gain: the time of a fill.
Challenge: twice
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    out.fill_(float(2 * x.mean()))
