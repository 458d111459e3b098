"""Batch normalisation in Triton: small channels in one block; larger ones in parts, by two launches that read them."""

import torch
import triton
import triton.language as tl

# A channel of up to this many elements, in its tile, fits into the registers of one program.
ONE_TILE = 16384
# Elements of a tile of a larger channel: PLANES images by WIDTH places. A tile needs no division for its places.
TILE = 4096
WIDTH = 1024
# Tiles of a part, or more: a channel has at most MOST_PARTS.
PART_TILES = 8
MOST_PARTS = 1024


@triton.jit
def small_channels(
    x,
    gamma,
    beta,
    out,
    mean_out,
    rstd_out,
    eps,
    count,
    batch,
    channels,
    spatial,
    PLANES: tl.constexpr,
    WIDTH: tl.constexpr,
):
    channel = tl.program_id(0).to(tl.int64)  # 64 bits: x may have more than 2^31 elements
    plane, place = tl.arange(0, PLANES), tl.arange(0, WIDTH)
    inside = (plane[:, None] < batch) & (place[None, :] < spatial)
    at = (plane[:, None].to(tl.int64) * channels + channel) * spatial + place[None, :]
    values = tl.load(x + at, mask=inside, other=0.0)
    # Without elements, 0 / 0 gives the NaN that is asked for.
    mean = tl.sum(values) / count
    # Outside, the deviation would be -mean: it must not count. The deviations come before their squares:
    # E[x^2] - E[x]^2 would lose every digit if the mean is large.
    deviations = tl.where(inside, values - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(deviations * deviations) / count + eps)
    tl.store(mean_out + channel, mean)
    tl.store(rstd_out + channel, rstd)
    scale = rstd * tl.load(gamma + channel)
    tl.store(out + at, (values - mean) * scale + tl.load(beta + channel), mask=inside)


@triton.jit
def part_moments(
    x,
    found,
    batch,
    channels,
    spatial,
    tiles,
    across,
    parts,
    part_tiles,
    PLANES: tl.constexpr,
    WIDTH: tl.constexpr,
):
    """For each part of a channel: how many elements, their sum, and their squared deviations from their own mean."""
    part = tl.program_id(0) % parts
    channel = (tl.program_id(0) // parts).to(tl.int64)
    count = tl.zeros((), dtype=tl.float32)
    # A sum stays infinite once an infinity is in it; a mean that is moved on would become inf - inf.
    total = tl.zeros((), dtype=tl.float32)
    squares = tl.zeros((), dtype=tl.float32)
    for tile in range(part * part_tiles, tl.minimum((part + 1) * part_tiles, tiles)):
        plane = tile // across * PLANES + tl.arange(0, PLANES)
        place = tile % across * WIDTH + tl.arange(0, WIDTH)
        inside = (plane[:, None] < batch) & (place[None, :] < spatial)
        at = (plane[:, None].to(tl.int64) * channels + channel) * spatial + place[None, :]
        values = tl.load(x + at, mask=inside, other=0.0)
        number = tl.sum(inside.to(tl.float32))
        its_total = tl.sum(values)
        its_mean = its_total / number
        deviations = tl.where(inside, values - its_mean, 0.0)
        # Two sets of elements become one by adding the way between their means.
        way = its_mean - total / tl.maximum(count, 1.0)
        squares += tl.sum(deviations * deviations) + way * way * (count / (count + number) * number)
        total += its_total
        count += number
    all_parts = tl.num_programs(0)
    tl.store(found + tl.program_id(0), count)
    tl.store(found + all_parts + tl.program_id(0), total)
    tl.store(found + 2 * all_parts + tl.program_id(0), squares)


@triton.jit
def part_results(
    x,
    gamma,
    beta,
    found,
    out,
    mean_out,
    rstd_out,
    eps,
    batch,
    channels,
    spatial,
    tiles,
    across,
    parts,
    part_tiles,
    PARTS: tl.constexpr,
    PLANES: tl.constexpr,
    WIDTH: tl.constexpr,
):
    part = tl.program_id(0) % parts
    channel = (tl.program_id(0) // parts).to(tl.int64)
    all_parts = tl.num_programs(0)
    number = tl.arange(0, PARTS)
    known = number < parts
    begin = found + channel * parts
    counts = tl.load(begin + number, mask=known, other=0.0)
    totals = tl.load(begin + all_parts + number, mask=known, other=0.0)
    squares = tl.load(begin + 2 * all_parts + number, mask=known, other=0.0)
    count = tl.sum(counts, axis=0)
    mean = tl.sum(totals, axis=0) / count
    ways = tl.where(known, totals / tl.maximum(counts, 1.0) - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(squares + ways * ways * counts, axis=0) / count + eps)
    if part == 0:
        tl.store(mean_out + channel, mean)
        tl.store(rstd_out + channel, rstd)
    scale = rstd * tl.load(gamma + channel)
    shift = tl.load(beta + channel)
    for tile in range(part * part_tiles, tl.minimum((part + 1) * part_tiles, tiles)):
        plane = tile // across * PLANES + tl.arange(0, PLANES)
        place = tile % across * WIDTH + tl.arange(0, WIDTH)
        inside = (plane[:, None] < batch) & (place[None, :] < spatial)
        at = (plane[:, None].to(tl.int64) * channels + channel) * spatial + place[None, :]
        values = tl.load(x + at, mask=inside)
        tl.store(out + at, (values - mean) * scale + shift, mask=inside)


def solve(x, gamma, beta, out, mean, rstd, eps, batch, channels, spatial):
    if channels == 0:
        return  # there is nothing to write; channels without elements have results
    planes, width = triton.next_power_of_2(max(batch, 1)), triton.next_power_of_2(max(spatial, 1))
    if batch * spatial == 0:
        planes, width = 1, 1
    if planes * width <= ONE_TILE:
        small_channels[(channels,)](
            x,
            gamma,
            beta,
            out,
            mean,
            rstd,
            eps,
            batch * spatial,
            batch,
            channels,
            spatial,
            PLANES=planes,
            WIDTH=width,
            num_warps=min(max(planes * width // 512, 1), 16),
        )
        return
    width = min(width, WIDTH)
    planes = TILE // width
    across = triton.cdiv(spatial, width)
    tiles = triton.cdiv(batch, planes) * across
    part_tiles = max(PART_TILES, triton.cdiv(tiles, MOST_PARTS))
    parts = triton.cdiv(tiles, part_tiles)
    found = torch.empty(3 * channels * parts, dtype=torch.float32, device=x.device)
    sizes = (batch, channels, spatial, tiles, across, parts, part_tiles)
    grid = (channels * parts,)
    part_moments[grid](x, found, *sizes, PLANES=planes, WIDTH=width, num_warps=8)
    part_results[grid](
        x,
        gamma,
        beta,
        found,
        out,
        mean,
        rstd,
        eps,
        *sizes,
        PARTS=triton.next_power_of_2(parts),
        PLANES=planes,
        WIDTH=width,
        num_warps=8,
    )
