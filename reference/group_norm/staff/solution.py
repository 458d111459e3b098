"""Group normalisation in Triton: short groups in one block; long ones in two passes that merge means and variances."""

import triton
import triton.language as tl

# A group of up to this many elements fits into the registers of one program.
ONE_BLOCK = 16384
LONG_BLOCK = 4096


@triton.jit
def short_groups(x, weight, bias, out, eps, count, groups, channels_of_group, spatial, BLOCK: tl.constexpr):
    group = tl.program_id(0)
    begin = group.to(tl.int64) * count  # 64 bits: x may have more than 2^31 elements
    at = tl.arange(0, BLOCK)
    inside = at < count
    values = tl.load(x + begin + at, mask=inside, other=0.0)
    mean = tl.sum(values, axis=0) / count
    # Beyond the group the deviation would be -mean: it must not be counted. The deviations come before their squares:
    # E[x^2] - E[x]^2 would lose every digit where the mean is large.
    deviations = tl.where(inside, values - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(deviations * deviations, axis=0) / count + eps)
    channel = group % groups * channels_of_group + at // spatial
    scale = tl.load(weight + channel, mask=inside)
    shift = tl.load(bias + channel, mask=inside)
    tl.store(out + begin + at, deviations * rstd * scale + shift, mask=inside)


@triton.jit
def long_groups(x, weight, bias, out, eps, count, groups, channels_of_group, spatial, BLOCK: tl.constexpr):
    group = tl.program_id(0).to(tl.int64)
    begin = group * count
    lane = tl.arange(0, BLOCK)
    # The mean so far, and the sum of squared deviations from it. Each block has its own two, exact in themselves; two
    # sets of elements become one by adding the way between their means.
    mean = tl.zeros((), dtype=tl.float32)
    squares = tl.zeros((), dtype=tl.float32)
    for start in range(0, count, BLOCK):
        inside = start + lane < count
        values = tl.load(x + begin + start + lane, mask=inside, other=0.0)
        number = tl.minimum(count - start, BLOCK).to(tl.float32)
        its_mean = tl.sum(values, axis=0) / number
        deviations = tl.where(inside, values - its_mean, 0.0)
        share = number / (start + number)
        way = its_mean - mean
        squares += tl.sum(deviations * deviations, axis=0) + way * way * start * share
        mean += way * share
    rstd = tl.rsqrt(squares / count + eps)
    for start in range(0, count, BLOCK):
        at = start + lane
        inside = at < count
        values = tl.load(x + begin + at, mask=inside)
        channel = group % groups * channels_of_group + at // spatial
        scale = tl.load(weight + channel, mask=inside)
        shift = tl.load(bias + channel, mask=inside)
        tl.store(out + begin + at, (values - mean) * rstd * scale + shift, mask=inside)


def solve(x, weight, bias, out, eps, batch, channels, spatial, groups):
    if batch == 0 or channels == 0 or spatial == 0:
        return  # there is nothing to write
    of_group = channels // groups
    count = of_group * spatial
    grid = (batch * groups,)
    given = (x, weight, bias, out, eps, count, groups, of_group, spatial)
    if count <= ONE_BLOCK:
        block = triton.next_power_of_2(count)
        # Up to 32 elements a thread: eight 16-byte loads under way at once.
        short_groups[grid](*given, BLOCK=block, num_warps=min(max(block // 512, 1), 16))
    else:
        long_groups[grid](*given, BLOCK=LONG_BLOCK, num_warps=8)
