"""Mistake: keeps the deviations in float16 in place of float32."""

import triton
import triton.language as tl


@triton.jit
def batch_norm_kernel(
    x, gamma, beta, out, mean_out, rstd_out, eps, count, channels, spatial, BLOCK: tl.constexpr
):
    channel = tl.program_id(0).to(tl.int64)
    index = tl.arange(0, BLOCK)
    inside = index < count
    at = (index // spatial * channels + channel) * spatial + index % spatial
    values = tl.load(x + at, mask=inside, other=0.0)
    mean = tl.sum(values, axis=0) / count
    deviations = tl.where(inside, values - mean, 0.0).to(tl.float16).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(deviations * deviations, axis=0) / count + eps)
    scale = tl.load(gamma + channel)
    shift = tl.load(beta + channel)
    tl.store(mean_out + channel, mean)
    tl.store(rstd_out + channel, rstd)
    tl.store(out + at, deviations * rstd * scale + shift, mask=inside)


def solve(x, gamma, beta, out, mean, rstd, eps, batch, channels, spatial):
    if channels == 0:
        return
    count = batch * spatial
    block = triton.next_power_of_2(max(count, 1))
    batch_norm_kernel[(channels,)](
        x, gamma, beta, out, mean, rstd, eps, count, channels, max(spatial, 1), BLOCK=block
    )
