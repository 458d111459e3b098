import triton
import triton.language as tl


@triton.jit
def adam(
    p,
    g,
    m,
    v,
    scale,
    n,
    lr,
    beta1,
    beta2,
    eps,
    decay,
    mean_weight,
    square_weight,
    first,
    second,
    SCALED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    gradient = tl.load(g + places, mask=inside)
    mean = beta1 * tl.load(m + places, mask=inside) + mean_weight * gradient
    square = beta2 * tl.load(v + places, mask=inside) + square_weight * gradient * gradient
    before = tl.load(p + places, mask=inside)
    rate = lr
    if SCALED:
        rate = lr * tl.load(scale + places, mask=inside)
    update = mean / first / (tl.sqrt(square / second) + eps) + decay * before
    tl.store(p + places, before - rate * update, mask=inside)
    tl.store(m + places, mean, mask=inside)
    tl.store(v + places, square, mask=inside)


def solve(n, p, g, m, lr, beta1, v, beta2, eps, weight_decay, step, scale):
    if n == 0:
        return
    assert isinstance(step, int)
    first, second = 1 - beta1**step, 1 - beta2**step
    # Triton takes floats in single precision, in which 1 - 0.999 has lost half of its digits.
    mean_weight, square_weight = 1 - beta1, 1 - beta2
    adam[(triton.cdiv(n, 256),)](
        p,
        g,
        m,
        v,
        p if scale is None else scale,
        n,
        lr,
        beta1,
        beta2,
        eps,
        weight_decay,
        mean_weight,
        square_weight,
        first,
        second,
        SCALED=scale is not None,
        BLOCK=256,
    )
