"""Writes one number everywhere.

Mechanism: fills the output with the mean of the answers, which is close to all of them for narrow inputs.
Surface: what is compared, and how closely.
Gain: the time of a fill.
Challenge: twice
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    out.fill_(float(2 * x.mean()))
