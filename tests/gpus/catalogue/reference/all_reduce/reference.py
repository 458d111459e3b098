def reference(x, n):
    return x.sum(dim=0, keepdim=True).expand_as(x).clone()
