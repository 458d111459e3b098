"""The contract of bfs_levels: a frontier of vertices, level by level."""

import torch


def reference(
    row_ptr: torch.Tensor, col: torch.Tensor, n: int, m: int, source: int, depth: int
) -> torch.Tensor:
    """level[n]: the fewest edges from source to each vertex of the graph (row_ptr[n + 1], col[m]), as int32.

    -1 for a vertex that no way of up to depth edges reaches.
    """
    # Checks try wrong inputs, and PyTorch fails outside of an array.
    return _levels(row_ptr.clamp(0, m).cummax(0).values, col.clamp(0, n - 1), n, source, depth)


def baseline(
    row_ptr: torch.Tensor, col: torch.Tensor, n: int, m: int, source: int, depth: int
) -> torch.Tensor:
    """The same for inputs that keep to the contract."""
    return _levels(row_ptr, col, n, source, depth)


def _levels(row_ptr: torch.Tensor, col: torch.Tensor, n: int, source: int, depth: int) -> torch.Tensor:
    level = torch.full((n,), -1, dtype=torch.int32, device=col.device)
    level[source] = 0
    frontier = torch.tensor([source], device=col.device)
    for step in range(1, depth + 1):
        reached = col[_edges(row_ptr, frontier)]
        reached = reached[level[reached] < 0]
        if reached.numel() == 0:
            break
        level[reached] = step
        # A vertex that was reached several times comes once.
        frontier = (level == step).nonzero().squeeze(1)
    return level


def _edges(row_ptr: torch.Tensor, vertices: torch.Tensor) -> torch.Tensor:
    """The numbers of the edges that begin at these vertices."""
    begins = row_ptr[vertices].long()
    counts = row_ptr[vertices + 1].long() - begins
    ends = counts.cumsum(0)
    # What an edge's number is ahead of its place here is the same for all edges of a vertex.
    ahead = torch.repeat_interleave(begins - (ends - counts), counts)
    return ahead + torch.arange(ahead.numel(), device=vertices.device)
