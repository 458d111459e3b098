"""The edge cases of paged_attention. Where a case says nothing of lengths, they are anything from 0 to what the pages
hold; where its values are asked at workloads, too, they are the manifest's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from grader.challenge.cases import (
    INF,
    NAN,
    Case,
    Category,
    Choice,
    Constant,
    Filling,
    Integers,
    Normal,
    Sprinkle,
    Uniform,
    case,
)
from grader.challenge.derived import Together

if TYPE_CHECKING:
    import torch

# Cases whose inputs timed rounds may draw, at other sizes.
ASKED_AT_WORKLOADS = {Category.NAN, Category.POS_INF, Category.NEG_INF, Category.ZEROS, Category.RANGE}


def scattered(device: str, sizes: dict[str, int], seed: int) -> dict[str, torch.Tensor]:
    """A random order of all pages, again and again if the sequences need more."""
    import torch

    places = torch.randperm(sizes["sequences"] * sizes["max_pages"])
    return {"table": places % sizes["pages"]}


def unused_pages_hold(device: str, sizes: dict[str, int], seed: int, rest: float) -> dict[str, torch.Tensor]:
    """Pages that hold ``rest`` in every slot that no sequence counts."""
    import torch

    sequences, max_pages, page_size = (sizes[name] for name in ("sequences", "max_pages", "page_size"))
    table = torch.randperm(sizes["pages"])[: sequences * max_pages].reshape(sequences, max_pages)
    lengths = torch.randint(0, max_pages * page_size + 1, (sequences,))
    counted = (torch.arange(max_pages * page_size)[None, :] < lengths[:, None]).reshape(-1, page_size)
    used = torch.zeros(sizes["pages"], page_size, dtype=torch.bool)
    used[table.reshape(-1)] = counted
    shape = [sizes[name] for name in ("pages", "page_size", "kv_heads", "dim")]
    return {
        "k_pages": torch.randn(shape).masked_fill(~used[:, :, None, None], rest),
        "v_pages": torch.randn(shape).masked_fill(~used[:, :, None, None], rest),
        "table": table,
        "lengths": lengths,
    }


def rest(value: float) -> dict[str, Filling]:
    return {
        name: Together(name, unused_pages_hold, {"rest": value})
        for name in ("k_pages", "v_pages", "table", "lengths")
    }


def inputs() -> dict[str, Filling]:
    return {"table": Together("table", scattered)}


def sized(
    name: str,
    category: str,
    sequences: int,
    q_heads: int,
    kv_heads: int,
    page_size: int,
    max_pages: int,
    dim: int,
    *,
    pages: int | None = None,
    inputs: Mapping[str, Filling] | None = None,
    **more: object,
) -> Case:
    given = dict(inputs or {})
    if Category(category) not in ASKED_AT_WORKLOADS and "on" not in more and "timed" not in more:
        given.setdefault("lengths", Integers(0, max_pages * page_size + 1))
    return case(
        name,
        category,
        sequences=sequences,
        q_heads=q_heads,
        kv_heads=kv_heads,
        pages=pages or sequences * max_pages + 3,
        page_size=page_size,
        max_pages=max_pages,
        dim=dim,
        inputs=given,
        **more,  # type: ignore[arg-type]
    )


def cases() -> list[Case]:
    return [
        sized("basic", "basic", 3, 4, 2, 16, 4, 32),
        sized("no_sequences", "empty", 0, 4, 2, 16, 3, 32, note="out is empty: no grid of 0 blocks."),
        sized("no_heads", "empty", 3, 0, 2, 16, 3, 32),
        sized("no_dims", "empty", 3, 4, 2, 16, 3, 0),
        sized("no_pages", "empty", 3, 4, 2, 16, 0, 32, note="Every length is 0: out is zeros."),
        sized(
            "empty_sequences",
            "range",
            5,
            4,
            2,
            16,
            3,
            32,
            inputs={"lengths": Choice((0, 0, 33))},
            timed=False,
            note="A sequence of length 0 has no weights: its out is 0.",
        ),
        sized("all_empty", "range", 2, 4, 2, 16, 80, 8, inputs={"lengths": Constant(0)}, timed=False),
        sized("one_slot", "one_element", 2, 4, 2, 1, 70, 16, note="A page per key."),
        sized("one_page", "one_element", 2, 4, 2, 70, 1, 16, note="A page per sequence."),
        sized("odd", "odd", 2, 15, 5, 11, 7, 24),
        sized("prime", "prime", 3, 21, 7, 13, 7, 16),
        sized("aligned", "aligned", 3, 8, 2, 16, 10, 128, pages=30, inputs={"lengths": Constant(160)}),
        *[sized(f"slots_{slots}", "block_edge", 2, 2, 1, slots, 3, 16) for slots in (17, 33, 65)],
        *[sized(f"dim_{dim}", "block_edge", 2, 4, 2, 8, 3, dim) for dim in (40, 80, 128)],
        *[sized(f"group_{group}", "block_edge", 1, 2 * group, 2, 8, 4, 16) for group in (9, 17)],
        sized(
            "lengths_at_blocks",
            "range",
            9,
            2,
            1,
            10,
            14,
            16,
            inputs={"lengths": Choice((9, 10, 11, 15, 16, 17, 63, 64, 65, 127, 128, 129))},
            timed=False,
        ),
        sized(
            "uneven_lengths",
            "large",
            3,
            2,
            1,
            20,
            130,
            8,
            inputs={"lengths": Choice((0, 1, 700, 1025, 2600))},
            note="Short and long sequences in one batch.",
        ),
        sized(
            "shared_pages",
            "range",
            5,
            4,
            2,
            16,
            4,
            32,
            pages=3,
            timed=False,
            note="Several sequences have the same page, and a sequence has one twice.",
        ),
        sized(
            "nan_in_the_rest",
            "nan",
            3,
            4,
            2,
            16,
            6,
            32,
            inputs=rest(NAN),
            timed=False,
            note="Slots beyond a length and unused pages are what was left there: 0 * NaN is NaN.",
        ),
        sized(
            "large_in_the_rest",
            "huge",
            3,
            4,
            2,
            16,
            6,
            32,
            inputs=rest(3000.0),
            timed=False,
            note="Keys beyond a length have higher scores than all others.",
        ),
        sized("inf_in_the_rest_1500", "pos_inf", 2, 2, 1, 30, 50, 8, inputs=rest(INF), timed=False),
        sized(
            "equal_scores",
            "zeros",
            3,
            4,
            2,
            16,
            6,
            40,
            inputs={"q": Constant(0)},
            note="Every key weighs the same: out is the mean of v.",
        ),
        sized(
            "ones", "ones", 2, 4, 2, 16, 7, 64, inputs={"v_pages": Constant(1)}, note="Weights add up to 1."
        ),
        sized(
            "odd_scale",
            "range",
            2,
            4,
            2,
            16,
            7,
            64,
            inputs={"q": Normal(0, 3), "k_pages": Normal(0, 3)},
            scalars={"scale": 0.1127},
            note="No power of two: q * scale is not exact in float16. Scores in float16 are off by 1 %.",
        ),
        sized(
            "huge_scores",
            "huge",
            2,
            4,
            2,
            16,
            7,
            32,
            inputs={"q": Normal(0, 60), "k_pages": Normal(0, 60)},
            note="exp of the scores themselves overflows; q k^T does not fit into float16.",
        ),
        sized(
            "all_scores_low",
            "huge",
            2,
            4,
            2,
            16,
            9,
            32,
            inputs={"q": Uniform(8, 10), "k_pages": Uniform(-10, -8)},
            note="Every score is near -650: exp without subtracting the maximum is 0.",
            timed=True,
        ),
        sized("tiny", "tiny", 2, 4, 2, 16, 4, 32, inputs={"v_pages": Uniform(-1e-4, 1e-4)}),
        sized("denormal", "denormal", 2, 4, 2, 16, 4, 32, inputs={"v_pages": Uniform(-1e-6, 1e-6)}),
        sized(
            "nan_q",
            "nan",
            3,
            8,
            2,
            16,
            4,
            32,
            inputs={"q": Sprinkle(NAN, 0.003)},
            note="The result of its own head is NaN, and no other.",
        ),
        sized(
            "nan_k",
            "nan",
            3,
            8,
            2,
            16,
            4,
            32,
            inputs={"k_pages": Sprinkle(NAN, 1e-7)},
            note="NaN for all queries of its group.",
        ),
        sized(
            "nan_v",
            "nan",
            3,
            8,
            2,
            16,
            4,
            32,
            inputs={"v_pages": Sprinkle(NAN, 1e-7)},
            note="NaN in its dimension, for all queries of its group.",
        ),
        sized(
            "pos_inf",
            "pos_inf",
            3,
            8,
            2,
            16,
            3,
            32,
            inputs={"q": Constant(0), "v_pages": Sprinkle(INF, 1e-6)},
            note="Every key weighs the same, so its dimension is infinite.",
        ),
        sized(
            "neg_inf",
            "neg_inf",
            3,
            8,
            2,
            16,
            3,
            32,
            inputs={"q": Constant(0), "v_pages": Sprinkle(-INF, 1e-6)},
        ),
        sized(
            "cancellation",
            "cancellation",
            2,
            4,
            2,
            16,
            12,
            32,
            inputs={"v_pages": Choice((1000.0, -1000.0, 1.0))},
            note="Errors are measured against the weighted |v|.",
        ),
        sized(
            "steady_sum",
            "large",
            1,
            2,
            1,
            25,
            84,
            8,
            inputs={"q": Constant(0), "v_pages": Constant(1.01171875)},
            timed=True,
            note="2100 equal terms: a sum kept in float16 rounds each step the same way.",
        ),
        sized(
            "odd_as_timed",
            "huge",
            127,
            28,
            4,
            33,
            255,
            120,
            inputs={"q": Uniform(8, 10), "k_pages": Uniform(-10, -8)},
            on="gpu",
        ),
    ]
