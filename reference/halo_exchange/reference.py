"""The contract of halo_exchange: Jacobi sweeps over both halves, which are one grid. The GPU is the first dimension."""

import torch


def reference(grid: torch.Tensor, steps: int, height: int, width: int) -> torch.Tensor:
    """out[gpu, height, width]: after each step inner elements are means of their four neighbours; the border stays."""
    now = grid.reshape(2 * height, width).clone()
    if height > 1 and width > 2:
        for _ in range(int(steps)):
            above, below = now[:-2, 1:-1], now[2:, 1:-1]
            left, right = now[1:-1, :-2], now[1:-1, 2:]
            now[1:-1, 1:-1] = (above + below + left + right) / 4
    return now.reshape(2, height, width)


def magnitude(grid: torch.Tensor, steps: int, height: int, width: int) -> torch.Tensor:
    """The scale of the rounding errors: the same steps on absolute values; 0 where elements are copied."""
    scale = reference(grid.abs(), steps, height, width)
    if scale.numel():
        scale[0, 0] = scale[1, -1] = 0
        scale[:, :, 0] = scale[:, :, -1] = 0
    return scale if steps > 0 else scale.zero_()
