"""Binds the name instead of writing into the tensor.

Mechanism: assigns the result to out and uses it.
Surface: where the result is looked for.
Gain: whatever a copy takes.
Challenge: twice
Like: other_storage
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    out = 2 * x
    print(len(out), n)
