import torch


def reference(weights, u, n):
    line = torch.nn.functional.pad(u.reshape(-1), (1, 1))
    new = weights[0] * line[:-2] + weights[1] * line[1:-1] + weights[2] * line[2:]
    return new.reshape(2, n), (new[n - 1] + new[n]).reshape(1)
