"""Challenges on gradients: ``reference.py`` defines the forward pass, and PyTorch's autograd in float64 gives
the right gradients.

A submission defines ``solve``, or in Python a ``torch.autograd.Function``.
"""

from __future__ import annotations

from string import Template
from typing import Any

from grader.challenge.model import Manifest

# Means the same in the judge, in a box and as a baseline.
_REFERENCE = Template("""

if "reference" not in globals():

    def reference($arguments):
        import torch

        given = {$given}
        with torch.enable_grad():
            leaves = {name: given[name].detach().requires_grad_() for name in $of}
            made = forward(**{**given, **leaves})
            made = dict(zip($results, made if isinstance(made, tuple) else (made,), strict=True))
            found = torch.autograd.grad(
                [made[name] for name in $differentiated],
                list(leaves.values()),
                [$upstream],
                allow_unused=True,
                materialize_grads=True,
            )
        made |= dict(zip($gradients, found, strict=True))
        return tuple(made[name].detach() for name in $order)
""")


def forward_arguments(manifest: Manifest) -> list[str]:
    """All but results and gradients of results, in the signature's order."""
    assert manifest.autograd is not None
    return [
        arg.name for arg in manifest.args if arg.kind.passed and arg.name not in manifest.autograd.upstream
    ]


def forward_results(manifest: Manifest) -> list[str]:
    assert manifest.autograd is not None
    return [arg.name for arg in manifest.results if arg.name not in manifest.autograd.gradients]


def reference_footer(manifest: Manifest) -> str:
    """Empty for challenges without autograd."""
    table = manifest.autograd
    if table is None:
        return ""
    return _REFERENCE.substitute(
        arguments=", ".join(arg.name for arg in manifest.args if arg.kind.passed),
        given=", ".join(f"{name!r}: {name}" for name in forward_arguments(manifest)),
        of=list(table.gradients.values()),
        results=forward_results(manifest),
        differentiated=list(table.upstream.values()),
        upstream=", ".join(table.upstream),
        gradients=list(table.gradients),
        order=[arg.name for arg in manifest.results],
    )


def form(manifest: Manifest) -> dict[str, Any] | None:
    """For a runner, see ``sandbox/runner/function_form.py``."""
    table = manifest.autograd
    if table is None:
        return None
    return {
        "forward": forward_arguments(manifest),
        "results": forward_results(manifest),
        "upstream": dict(table.upstream),
        "gradients": dict(table.gradients),
    }
