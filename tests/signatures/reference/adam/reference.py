"""One step of Adam with decoupled weight decay; scale multiplies the learning rate of each element."""

import torch


def reference(n, p, g, m, lr, beta1, v, beta2, eps, weight_decay, step, scale):
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    rate = lr if scale is None else lr * scale
    update = (m / (1 - beta1**step)) / (torch.sqrt(v / (1 - beta2**step)) + eps) + weight_decay * p
    return p - rate * update, m, v
