"""The contract of jacobi_2d: means of four neighbours inside, copies on the border."""

import torch


def reference(grid: torch.Tensor, height: int, width: int) -> torch.Tensor:
    """out[height, width]: the mean of the elements above, below, left and right; on the border the element itself."""
    out = grid.clone()
    if height > 2 and width > 2:
        above, below = grid[:-2, 1:-1], grid[2:, 1:-1]
        left, right = grid[1:-1, :-2], grid[1:-1, 2:]
        out[1:-1, 1:-1] = (above + below + left + right) / 4
    return out


def magnitude(grid: torch.Tensor, height: int, width: int) -> torch.Tensor:
    """The scale of the rounding errors: the mean of the absolute values; 0 on the border, which is copied."""
    scale = reference(grid.abs(), height, width)
    if scale.numel():
        scale[0] = scale[-1] = 0
        scale[:, 0] = scale[:, -1] = 0
    return scale
