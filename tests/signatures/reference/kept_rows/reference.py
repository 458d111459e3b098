"""Rows in their order; what is behind the count does not matter."""

import torch


def reference(threshold, mask, seed, x, rows, cols):
    place = torch.nonzero(x[:, 0] > threshold)[:, 0]
    kept, turned = torch.zeros_like(x), torch.zeros(cols, rows, dtype=x.dtype)
    places = torch.zeros(rows, dtype=torch.int32)
    kept[: len(place)], turned[:, : len(place)] = x[place], x[place].T
    places[: len(place)] = place.int()
    return torch.tensor([len(place)]), kept, places, turned, torch.tensor([mask, seed])
