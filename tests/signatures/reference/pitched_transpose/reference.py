"""The view of the input has its pitch."""


def reference(x, rows, cols, ldx, ldo):
    assert x.numel() == 0 or x.stride() == (ldx, 1)
    return x.T
