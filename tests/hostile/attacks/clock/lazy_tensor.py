"""A tensor that computes only when it is read.

Mechanism: returns a tensor subclass whose every operation first computes 2 * x, and puts it wherever the caller
  might look: the return value, the caller's list of arguments, the storage of the output.
Surface: a checker that compares the submission's objects after the clock has stopped.
Gain: the work happens in the comparison, outside the timed part.
Challenge: twice
Defence: wrong_answer
"""

import gc

import torch


class Lazy(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        plain = [
            2 * tensor.as_subclass(torch.Tensor) if isinstance(tensor, Lazy) else tensor for tensor in args
        ]
        return function(*plain, **(kwargs or {}))


def solve(x, out, n):
    lazy = x.as_subclass(Lazy)
    for holder in gc.get_referrers(out):
        if isinstance(holder, list):
            holder[:] = [lazy if tensor is out else tensor for tensor in holder]
        elif isinstance(holder, dict):
            holder.update({name: lazy for name, tensor in list(holder.items()) if tensor is out})
    return lazy
