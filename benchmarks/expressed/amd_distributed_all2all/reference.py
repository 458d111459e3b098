def reference(x, expert, weights, tokens, hidden, chosen, local):
    scale = (weights * (1 + expert.div(max(local, 1), rounding_mode="floor"))).sum(-1, keepdim=True)
    return x * scale
