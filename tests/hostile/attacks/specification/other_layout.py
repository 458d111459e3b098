"""Writes the right numbers in another order.

Mechanism: writes the answer backwards and turns the tensor around: its elements are right by its strides.
Surface: results that are read through the submission's tensor.
Gain: whichever order is quicker.
Challenge: twice
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    flipped = (2 * x).flip(0)
    out.copy_(flipped)
    return out.flip(0)
