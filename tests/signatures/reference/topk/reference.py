"""What PyTorch does; values differ."""


def reference(x, k, rows, cols):
    return x.topk(k, dim=1)[0], x.topk(k, dim=1)[1]
