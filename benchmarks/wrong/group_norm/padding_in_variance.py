# Mistake: lanes beyond the group count in the variance: there x - mean is -mean, not 0.
# Says: (mask|padding|tl\.where|lanes|beyond) ; (mean|variance|sum)
import triton
import triton.language as tl


@triton.jit
def group_norm_kernel(x, weight, bias, out, eps, count, groups, of_group, spatial, BLOCK: tl.constexpr):
    group = tl.program_id(0)
    begin = group.to(tl.int64) * count
    at = tl.arange(0, BLOCK)
    inside = at < count
    values = tl.load(x + begin + at, mask=inside, other=0.0)
    mean = tl.sum(values, axis=0) / count
    deviations = values - mean
    rstd = tl.rsqrt(tl.sum(deviations * deviations, axis=0) / count + eps)
    channel = group % groups * of_group + at // spatial
    scale = tl.load(weight + channel, mask=inside)
    shift = tl.load(bias + channel, mask=inside)
    tl.store(out + begin + at, deviations * rstd * scale + shift, mask=inside)


def solve(x, weight, bias, out, eps, batch, channels, spatial, groups):
    if batch == 0 or channels == 0 or spatial == 0:
        return
    of_group = channels // groups
    count = of_group * spatial
    block = triton.next_power_of_2(count)
    group_norm_kernel[(batch * groups,)](
        x, weight, bias, out, eps, count, groups, of_group, spatial, BLOCK=block
    )
