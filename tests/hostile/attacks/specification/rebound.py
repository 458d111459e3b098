"""Binds the name instead of writing into the tensor.

Mechanism: assigns the result to out and uses it.
Surface: the place where the judge reads the result.
Gain: the time of a copy.
Challenge: twice
Like: other_storage
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    out = 2 * x
    print(len(out), n)
