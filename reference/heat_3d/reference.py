"""The contract of heat_3d: steps of the explicit heat equation inside, copies on the sides."""

import torch


def reference(
    grid: torch.Tensor, alpha: float, steps: int, depth: int, height: int, width: int
) -> torch.Tensor:
    """out[depth, height, width]: in each step (1 - 6 alpha) of the element itself and alpha of its six neighbours."""
    out = grid.clone()
    if min(depth, height, width) > 2:
        for _ in range(int(steps)):
            inner = out[1:-1, 1:-1, 1:-1]
            planes = out[:-2, 1:-1, 1:-1] + out[2:, 1:-1, 1:-1]
            rows = out[1:-1, :-2, 1:-1] + out[1:-1, 2:, 1:-1]
            columns = out[1:-1, 1:-1, :-2] + out[1:-1, 1:-1, 2:]
            inner.copy_((1 - 6 * alpha) * inner + alpha * (planes + rows + columns))
    return out


def magnitude(
    grid: torch.Tensor, alpha: float, steps: int, depth: int, height: int, width: int
) -> torch.Tensor:
    """The scale of the rounding errors: the same steps on absolute values; 0 where elements are copied."""
    scale = reference(grid.abs(), alpha, steps, depth, height, width)
    if scale.numel():
        scale[0] = scale[-1] = 0
        scale[:, 0] = scale[:, -1] = 0
        scale[:, :, 0] = scale[:, :, -1] = 0
    return scale if steps > 0 else scale.zero_()
