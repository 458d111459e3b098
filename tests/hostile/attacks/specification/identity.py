"""Copies the input.

Mechanism: copies the input to the output; some references nearly do.
Surface: the choice of compared elements, and their tolerance.
Gain: the time of a copy.
Challenge: twice
Like: constant
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    out.copy_(x)
