"""The edge cases of cholesky_batched. Every matrix is a Gram matrix plus a multiple of the identity, and so positive
definite, unless a case spoils it at one place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.challenge.cases import INF, NAN, Case, Filling, case
from grader.challenge.derived import Together

if TYPE_CHECKING:
    import torch

# The smallest eigenvalue of usual matrices; the largest is about 4.5.
RIDGE = 0.5
# A case that spoils matrices spoils each third.
SPOILT = 3


def gram(sizes: dict[str, int], columns: float, ridge: float) -> torch.Tensor:
    """G G^T / m + ridge: G is normal, with m = columns * n columns."""
    import torch

    batch, n = sizes["batch"], sizes["n"]
    wide = max(1, round(columns * n))
    g = torch.randn(batch, n, wide).mul_(wide**-0.5)
    return (g @ g.mT).add_(torch.eye(n).mul_(ridge))


def mirrored(a: torch.Tensor) -> dict[str, torch.Tensor]:
    """Both triangles are equal to the last bit."""
    return {"a": a.tril() + a.tril(-1).mT}


def definite(
    device: str,
    sizes: dict[str, int],
    seed: int,
    columns: float = 1.0,
    ridge: float = RIDGE,
    scale: float = 1.0,
    powers: int = 0,
) -> dict[str, torch.Tensor]:
    """``powers``: rows and columns are multiplied by powers of two from -powers to powers."""
    import torch

    a = gram(sizes, columns, ridge)
    if powers:
        factors = torch.exp2(torch.randint(-powers, powers + 1, a.shape[:2]).float())
        a = a * factors[:, :, None] * factors[:, None, :]
    return mirrored(a * scale)


def diagonal(
    device: str, sizes: dict[str, int], seed: int, low: float = 0.5, high: float = 2.0, beside: float = 0.0
) -> dict[str, torch.Tensor]:
    """``beside``: the largest number outside the diagonal."""
    import torch

    batch, n = sizes["batch"], sizes["n"]
    a = (torch.rand(batch, n, n) * 2 - 1) * beside
    on_diagonal = torch.rand(batch, n) * (high - low) + low
    return mirrored(torch.where(torch.eye(n, dtype=torch.bool), on_diagonal[:, :, None], a))


def spoilt(
    device: str, sizes: dict[str, int], seed: int, value: float = NAN, on_diagonal: bool = True
) -> dict[str, torch.Tensor]:
    """``value`` at a random place of each third matrix, and at the place that mirrors it."""
    import torch

    a = mirrored(gram(sizes, 1.0, RIDGE))["a"]
    batch, n = sizes["batch"], sizes["n"]
    if batch * n == 0:
        return {"a": a}
    matrix = torch.arange(0, batch, SPOILT)
    row = torch.randint(n, matrix.shape)
    column = row if on_diagonal else torch.randint(n, matrix.shape)
    a[matrix, row, column] = value
    a[matrix, column, row] = value
    return {"a": a}


def inputs() -> dict[str, Filling]:
    return {"a": Together("a", definite)}


def sized(name: str, category: str, batch: int, n: int, draw: Filling | None = None, **more: object) -> Case:
    given = {} if draw is None else {"a": draw}
    return case(name, category, batch=batch, n=n, inputs=given, **more)  # type: ignore[arg-type]


def cases() -> list[Case]:
    return [
        sized("basic", "basic", 5, 12),
        sized(
            "no_matrices",
            "empty",
            0,
            8,
            note="Nothing to do: a grid of 0 blocks is a launch error in CUDA.",
        ),
        sized("no_rows", "empty", 5, 0),
        sized("one_element", "one_element", 1, 1, note="The square root of one number."),
        sized("n_1", "one_element", 37, 1, note="Every matrix is one number."),
        sized("one_matrix", "one_element", 1, 24),
        *[sized(f"n_{n}", "basic", 5, n) for n in (2, 4, 7, 8, 9)],
        sized("n_3", "odd", 101, 3),
        sized("odd", "odd", 7, 13),
        sized("prime", "prime", 5, 29),
        sized("aligned", "aligned", 128, 16),
        *[sized(f"n_{n}", "block_edge", 3, n) for n in (15, 16, 17, 31, 32, 33)],
        *[sized(f"n_{n}", "block_edge", 2, n) for n in (47, 48, 49, 63, 64, 65)],
        *[sized(f"n_{n}", "block_edge", 1, n) for n in (97, 127, 128, 129)],
        sized("n_150", "large", 1, 150, note="Longer than two warps, or than registers hold."),
        *[sized(f"batch_{batch}", "block_edge", batch, 5) for batch in (15, 16, 17, 31, 32, 33, 127, 129)],
        sized(
            "diagonal",
            "zeros",
            6,
            14,
            Together("a", diagonal),
            note="The factor is diagonal, too: the roots.",
        ),
        sized("identity", "ones", 2, 33, Together("a", diagonal, {"low": 1.0, "high": 1.0})),
        sized(
            "far_from_singular",
            "basic",
            2,
            40,
            Together("a", definite, {"ridge": 20.0}),
            note="The diagonal is much larger than the rest.",
        ),
        sized(
            "nearly_singular",
            "cancellation",
            4,
            24,
            Together("a", definite, {"columns": 0.5, "ridge": 1e-3}),
            note="Half of the pivots are a thousandth of what they are subtracted from.",
        ),
        sized(
            "nearly_singular_64",
            "cancellation",
            2,
            64,
            Together("a", definite, {"columns": 0.5, "ridge": 1e-3}),
        ),
        sized(
            "mixed_scales",
            "range",
            4,
            20,
            Together("a", definite, {"powers": 20}),
            note="Pivots of 1e-12 next to those of 1e12: none is too small to count.",
        ),
        sized("mixed_scales_50", "range", 2, 50, Together("a", definite, {"powers": 20}), timed=False),
        sized("huge", "huge", 4, 21, Together("a", definite, {"scale": 2e37})),
        sized(
            "tiny",
            "tiny",
            4,
            21,
            Together("a", definite, {"scale": 1e-30}),
            note="Nothing may be added to the diagonal to be on the safe side.",
        ),
        sized("tiny_50", "tiny", 2, 50, Together("a", definite, {"scale": 1e-30})),
        sized(
            "denormal",
            "denormal",
            4,
            21,
            Together("a", diagonal, {"beside": 1e-39}),
            note="Numbers outside the diagonal may count as 0.",
        ),
        sized(
            "negative_pivot",
            "range",
            7,
            18,
            Together("a", spoilt, {"value": -2.0}),
            note="The square root of a negative number is NaN: do not clamp it.",
        ),
        sized("negative_pivot_50", "range", 2, 50, Together("a", spoilt, {"value": -2.0}), timed=False),
        sized("negative_pivot_80", "range", 2, 80, Together("a", spoilt, {"value": -2.0}), timed=False),
        sized(
            "nan",
            "nan",
            7,
            18,
            Together("a", spoilt, {"on_diagonal": False}),
            note="It spreads in its own row and in the rows below, and in no other matrix.",
        ),
        sized("nan_50", "nan", 2, 50, Together("a", spoilt, {"on_diagonal": False}), timed=False),
        sized("nan_80", "nan", 2, 80, Together("a", spoilt, {"on_diagonal": False}), timed=False),
        sized(
            "nan_on_diagonal",
            "nan",
            7,
            13,
            Together("a", spoilt),
            # A pivot without its element is negative, and NaN as well.
            timed=False,
        ),
        sized(
            "pos_inf",
            "pos_inf",
            7,
            18,
            Together("a", spoilt, {"value": INF}),
            note="Its root is infinite, and a finite number divided by it is 0.",
        ),
        sized("pos_inf_50", "pos_inf", 2, 50, Together("a", spoilt, {"value": INF}), timed=False),
        sized("pos_inf_80", "pos_inf", 2, 80, Together("a", spoilt, {"value": INF}), timed=False),
        sized("neg_inf", "neg_inf", 7, 18, Together("a", spoilt, {"value": -INF})),
        sized("neg_inf_50", "neg_inf", 2, 50, Together("a", spoilt, {"value": -INF}), timed=False),
        sized("many", "large", 1_003, 6),
        sized(
            "many_with_nan",
            "large",
            700,
            7,
            Together("a", spoilt, {"on_diagonal": False}),
            note="Matrices that share a block, or a warp, do not share NaN.",
        ),
        sized("many_33", "large", 9, 33),
        sized("odd_as_timed", "prime", 393_209, 31, on="gpu"),
    ]
