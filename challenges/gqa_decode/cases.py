"""The edge cases of gqa_decode. Where a case says nothing of lengths, they are anything from 1 to seq; where its values
are asked at workloads, too, they are the manifest's.
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
    Rows,
    Sprinkle,
    Uniform,
    case,
)
from grader.challenge.derived import Together

if TYPE_CHECKING:
    import torch

# Cases whose inputs timed rounds may draw, at other sizes.
ASKED_AT_WORKLOADS = {Category.NAN, Category.POS_INF, Category.NEG_INF, Category.ZEROS, Category.RANGE}


def sized(
    name: str,
    category: str,
    batch: int,
    q_heads: int,
    kv_heads: int,
    seq: int,
    dim: int,
    *,
    inputs: Mapping[str, Filling] | None = None,
    **more: object,
) -> Case:
    given = dict(inputs or {})
    if Category(category) not in ASKED_AT_WORKLOADS and "on" not in more and "timed" not in more:
        given.setdefault("lengths", Integers(1, seq + 1))
    return case(
        name,
        category,
        batch=batch,
        q_heads=q_heads,
        kv_heads=kv_heads,
        seq=seq,
        dim=dim,
        inputs=given,
        **more,  # type: ignore[arg-type]
    )


def cut_short(device: str, sizes: dict[str, int], seed: int, rest: float) -> dict[str, torch.Tensor]:
    """Caches that hold ``rest`` beyond the length of each sequence."""
    import torch

    shape = [sizes[name] for name in ("batch", "kv_heads", "seq", "dim")]
    lengths = torch.randint(1, sizes["seq"] + 1, shape[:1])
    beyond = (torch.arange(sizes["seq"])[None, :] >= lengths[:, None])[:, None, :, None]
    return {
        "k": torch.randn(shape).masked_fill(beyond, rest),
        "v": torch.randn(shape).masked_fill(beyond, rest),
        "lengths": lengths,
    }


def rest(value: float) -> dict[str, Filling]:
    return {name: Together(name, cut_short, {"rest": value}) for name in ("k", "v", "lengths")}


def cases() -> list[Case]:
    return [
        sized("basic", "basic", 3, 4, 2, 40, 32),
        sized("no_sequences", "empty", 0, 4, 2, 5, 32, note="out is empty: no grid of 0 blocks."),
        sized("no_heads", "empty", 3, 0, 2, 5, 32),
        sized("no_dims", "empty", 3, 4, 2, 5, 0),
        sized("one_key", "one_element", 3, 4, 2, 1, 32, note="Its weight is 1: out is v."),
        sized("one_head", "one_element", 1, 1, 1, 30, 8),
        sized("one_sequence", "one_element", 1, 4, 2, 200, 32),
        sized("one_query_per_group", "odd", 2, 3, 3, 70, 32, inputs={"k": Normal(0, 2)}),
        sized("odd", "odd", 2, 15, 5, 77, 24),
        sized("prime", "prime", 3, 21, 7, 101, 16),
        sized("aligned", "aligned", 1, 32, 4, 128, 128),
        *[
            sized(
                f"seq_{seq}",
                "block_edge",
                2,
                2,
                1,
                seq,
                16,
                inputs={"lengths": Choice((seq, max(seq - 1, 1)))},
            )
            for seq in (15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257, 511, 513)
        ],
        *[
            sized(f"dim_{dim}", "block_edge", 2, 4, 2, 24, dim)
            for dim in (8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 120, 128)
        ],
        *[
            sized(f"group_{group}", "block_edge", 1, 2 * group, 2, 33, 16)
            for group in (2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33)
        ],
        sized("one_kv_head", "one_element", 2, 12, 1, 50, 64, note="All heads share one cache."),
        sized("many_sequences", "block_edge", 33, 2, 1, 20, 8),
        sized("seq_2049", "block_edge", 1, 2, 1, 2049, 8, inputs={"lengths": Constant(2049)}),
        sized(
            "lengths_1",
            "range",
            3,
            8,
            2,
            70,
            32,
            inputs={"lengths": Constant(1)},
            note="One key counts: out is its value.",
        ),
        sized("full_lengths", "range", 3, 8, 2, 70, 32, inputs={"lengths": Constant(70)}, timed=False),
        sized(
            "lengths_at_blocks",
            "range",
            9,
            2,
            1,
            140,
            16,
            inputs={"lengths": Choice((15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129))},
            timed=False,
        ),
        sized(
            "uneven_lengths",
            "large",
            3,
            2,
            1,
            3001,
            8,
            inputs={"lengths": Choice((1, 700, 1025, 3001))},
            note="Short and long sequences in one batch.",
        ),
        sized(
            "nan_in_the_rest",
            "nan",
            3,
            4,
            2,
            90,
            32,
            inputs=rest(NAN),
            timed=False,
            note="Keys and values beyond a length are what was left there: 0 * NaN is NaN.",
        ),
        sized("inf_in_the_rest", "pos_inf", 3, 4, 2, 90, 32, inputs=rest(INF), timed=False),
        sized(
            "large_in_the_rest",
            "huge",
            3,
            4,
            2,
            90,
            32,
            inputs=rest(3000.0),
            timed=False,
            note="Keys beyond a length have higher scores than all others.",
        ),
        sized("nan_in_the_rest_1500", "nan", 2, 2, 1, 1500, 8, inputs=rest(NAN), timed=False),
        sized(
            "equal_scores",
            "zeros",
            3,
            4,
            2,
            90,
            40,
            inputs={"q": Constant(0)},
            note="Every key weighs the same: out is the mean of v.",
        ),
        sized("zeros", "zeros", 2, 4, 2, 40, 64, inputs={"v": Constant(0)}),
        sized("ones", "ones", 2, 4, 2, 100, 64, inputs={"v": Constant(1)}, note="Weights add up to 1."),
        sized(
            "large_scores",
            "huge",
            2,
            4,
            2,
            100,
            64,
            inputs={"q": Normal(0, 3), "k": Normal(0, 3)},
            note="Scores of 20 and more: in float16 they are off by 1 %.",
        ),
        sized(
            "odd_scale",
            "range",
            2,
            4,
            2,
            100,
            64,
            inputs={"q": Normal(0, 3), "k": Normal(0, 3)},
            scalars={"scale": 0.1127},
            note="No power of two: q * scale is not exact in float16.",
        ),
        sized("scale_1", "range", 2, 4, 2, 70, 32, scalars={"scale": 1.0}),
        sized(
            "huge_scores",
            "huge",
            2,
            4,
            2,
            100,
            32,
            inputs={"q": Normal(0, 60), "k": Normal(0, 60)},
            note="exp of the scores themselves overflows; q k^T does not fit into float16.",
        ),
        sized(
            "all_scores_low",
            "huge",
            2,
            4,
            2,
            140,
            32,
            inputs={"q": Uniform(8, 10), "k": Uniform(-10, -8)},
            note="Every score is near -650: exp without subtracting the maximum is 0.",
            timed=True,
        ),
        sized(
            "all_scores_low_1100",
            "huge",
            1,
            2,
            1,
            1_100,
            16,
            # Whole numbers, whose sums float32 holds exactly. Of scores further down, times log2(e), right kernels
            # would lose more than the tolerance.
            inputs={"q": Choice((60.0, 72.0)), "k": Choice((-60.0, -72.0)), "lengths": Constant(1_090)},
            timed=False,
            note="Every score is near -17,000: a mask of -10,000 would be a higher one.",
        ),
        sized("huge_v", "huge", 2, 4, 2, 70, 32, inputs={"v": Normal(0, 1e4)}),
        sized("tiny", "tiny", 2, 4, 2, 70, 32, inputs={"v": Uniform(-1e-4, 1e-4)}),
        sized("denormal", "denormal", 2, 4, 2, 70, 32, inputs={"v": Uniform(-1e-6, 1e-6)}),
        sized(
            "nan_q",
            "nan",
            3,
            8,
            2,
            60,
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
            60,
            32,
            inputs={"k": Sprinkle(NAN, 1e-7)},
            note="NaN for all queries of its group.",
        ),
        sized(
            "nan_v",
            "nan",
            3,
            8,
            2,
            60,
            32,
            inputs={"v": Sprinkle(NAN, 1e-7)},
            note="NaN in its dimension, for all queries of its group.",
        ),
        sized(
            "nan_sequence",
            "nan",
            3,
            4,
            2,
            40,
            32,
            inputs={"v": Rows(NAN, 2)},
            note="A sequence of NaN leaves the others alone.",
        ),
        sized("nan_q_1100", "nan", 2, 2, 1, 1_100, 8, inputs={"q": Sprinkle(NAN, 0.05)}, timed=False),
        sized("nan_k_1100", "nan", 2, 2, 1, 1_100, 8, inputs={"k": Sprinkle(NAN, 1e-7)}, timed=False),
        sized(
            "pos_inf",
            "pos_inf",
            3,
            8,
            2,
            50,
            32,
            inputs={"q": Constant(0), "v": Sprinkle(INF, 1e-6)},
            note="Every key weighs the same, so its dimension is infinite.",
        ),
        sized("neg_inf", "neg_inf", 3, 8, 2, 50, 32, inputs={"q": Constant(0), "v": Sprinkle(-INF, 1e-6)}),
        sized(
            "pos_inf_alone",
            "pos_inf",
            7,
            4,
            2,
            9,
            32,
            inputs={"v": Sprinkle(INF, 0.02), "lengths": Constant(1)},
            timed=False,
        ),
        sized("ties", "ties", 2, 4, 2, 70, 16, inputs={"q": Choice((1.0, -1.0)), "k": Choice((1.0, -1.0))}),
        sized(
            "cancellation",
            "cancellation",
            2,
            4,
            2,
            200,
            32,
            inputs={"v": Choice((1000.0, -1000.0, 1.0))},
            note="Errors are measured against the weighted |v|.",
        ),
        sized(
            "steady_sum",
            "large",
            1,
            2,
            1,
            2100,
            8,
            inputs={"q": Constant(0), "v": Constant(1.01171875)},
            timed=True,
            note="2100 equal terms: a sum kept in float16 rounds each step the same way.",
        ),
        sized("large", "large", 3, 8, 2, 400, 32),
        sized(
            "odd_as_timed",
            "huge",
            15,
            56,
            8,
            32_769,
            120,
            inputs={"q": Uniform(8, 10), "k": Uniform(-10, -8)},
            on="gpu",
        ),
        sized("beyond_2_31", "large", 131, 16, 8, 16_385, 128, on="gpu"),
    ]
