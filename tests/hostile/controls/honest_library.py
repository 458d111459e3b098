"""Calls torch and says so.

Looks: like an attack, but nothing forbids it: it is accepted, and marked for staff.
Challenge: twice
Timed: yes
On: cpu, gpu
Defence: library_kernel
Emulated: host_computed
"""

import torch


def solve(x, out, n):
    torch.mul(x, 2, out=out)
