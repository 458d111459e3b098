"""Cross-entropy and its gradient: two functions of its own form in one call.

signature: cross_entropy(logits: bf16[batch, vocab], targets: i64[batch] < vocab, upstream: f32[batch]) -> loss:
    f32[batch], gradient: bf16[batch, vocab]
tolerance: 1e-3,1e-2
"""

import torch


def reference(logits, targets, upstream, batch, vocab):
    logs = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
    hit = torch.nn.functional.one_hot(targets, vocab) if batch else torch.zeros_like(logs)
    return -logs.gather(1, targets[:, None])[:, 0], (logs.exp() - hit) * upstream[:, None]
