"""Puts other memory under the output tensor.

Mechanism: exchanges the output's storage for one of its own, which only this process can see.
Surface: where the result is looked for.
Gain: whatever a copy takes.
Challenge: twice
Case: basic
On: cpu, gpu
Defence: wrong_answer
"""


def solve(x, out, n):
    out.set_(2 * x)
