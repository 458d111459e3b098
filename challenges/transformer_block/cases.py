"""The edge cases of transformer_block. Weights are drawn so that each step's results have about the size of x."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.challenge.cases import (
    INF,
    NAN,
    Case,
    Choice,
    Constant,
    Filling,
    Normal,
    Rows,
    Sprinkle,
    Uniform,
    case,
)

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Weights:
    """Normal, so that of inputs with deviation 1 the product has deviation ``gain``."""

    gain: float = 1.0

    def draw(self, shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
        return Normal(0.0, self.gain * max(1, shape[0]) ** -0.5).draw(shape, dtype, generator)

    def bytes_beside(self, count: int, itemsize: int) -> int:
        return Normal().bytes_beside(count, itemsize)

    def words(self) -> str:
        return f"normal, deviation {self.gain:g} / sqrt(rows)"


def inputs() -> dict[str, Filling]:
    """Scores have a deviation of two and more: a few keys weigh much, as in a language model."""
    return {"w_qkv": Weights(1.5), "w_out": Weights(), "w_up": Weights(), "w_down": Weights(1.5)}


def sized(
    name: str,
    category: str,
    batch: int,
    seq: int,
    heads: int,
    dim: int,
    hidden: int,
    *,
    inputs: Mapping[str, Filling] | None = None,
    **more: object,
) -> Case:
    return case(
        name,
        category,
        batch=batch,
        seq=seq,
        heads=heads,
        dim=dim,
        hidden=hidden,
        inputs=inputs or {},
        **more,  # type: ignore[arg-type]
    )


def cases() -> list[Case]:
    return [
        sized("basic", "basic", 2, 24, 2, 16, 64),
        sized("no_sequences", "empty", 0, 5, 2, 16, 64, note="out is empty: no grid of 0 blocks."),
        sized("no_tokens", "empty", 3, 0, 2, 16, 64),
        sized("no_heads", "empty", 3, 5, 0, 16, 64),
        sized(
            "no_hidden",
            "empty",
            2,
            20,
            2,
            16,
            0,
            note="The MLP adds an empty sum: out is what attention left, and must be written.",
        ),
        sized("one_head", "one_element", 1, 30, 1, 8, 8),
        sized(
            "one_token", "one_element", 5, 1, 3, 16, 48, note="Its weight is 1: attention gives its value."
        ),
        sized("odd", "odd", 3, 21, 3, 24, 72),
        sized("prime", "prime", 2, 37, 5, 8, 104),
        sized("aligned", "aligned", 2, 64, 2, 32, 128),
        *[sized(f"seq_{seq}", "block_edge", 2, seq, 1, 8, 16) for seq in (15, 17, 33, 64, 65, 127, 129)],
        *[sized(f"dim_{dim}", "block_edge", 1, 20, heads, dim, 32) for heads, dim in ((2, 72), (1, 128))],
        *[sized(f"hidden_{hidden}", "block_edge", 1, 17, 1, 16, hidden) for hidden in (120, 136)],
        sized("many_heads", "block_edge", 1, 9, 33, 8, 8),
        sized("many_sequences", "block_edge", 17, 5, 2, 8, 24),
        sized("long", "large", 1, 260, 2, 16, 64),
        sized("wide", "large", 1, 9, 3, 88, 264),
        sized("zeros", "zeros", 2, 20, 2, 16, 64, inputs={"x": Constant(0)}, note="eps keeps 0 / 0 away."),
        sized(
            "no_attention",
            "zeros",
            2,
            20,
            2,
            16,
            64,
            inputs={"w_out": Constant(0)},
            note="out is x and the MLP of x.",
        ),
        sized(
            "no_mlp", "zeros", 2, 40, 2, 16, 64, inputs={"w_down": Constant(0)}, note="out is x + attention."
        ),
        sized(
            "equal_scores",
            "ties",
            2,
            40,
            2,
            16,
            64,
            inputs={"x": Constant(1)},
            note="All tokens are equal, and so are their results.",
        ),
        sized(
            "large_scores",
            "range",
            2,
            32,
            2,
            32,
            64,
            inputs={"w_qkv": Weights(5)},
            note="Scores of 100: their exponentials overflow.",
            timed=False,
        ),
        sized("gelu_tails", "range", 2, 20, 2, 16, 64, inputs={"w_up": Weights(5)}),
        sized("eps", "range", 2, 20, 2, 16, 64, scalars={"eps": 0.75}),
        sized(
            "large_x",
            "huge",
            2,
            20,
            3,
            16,
            64,
            inputs={"x": Normal(0, 300), "w_out": Weights(300), "w_down": Weights(450)},
            note="The squares of a row do not fit into float16, nor does their sum.",
        ),
        sized("huge", "huge", 2, 20, 2, 16, 64, inputs={"x": Uniform(-6e4, 6e4)}),
        sized(
            "small_x",
            "tiny",
            2,
            20,
            2,
            16,
            64,
            inputs={"x": Uniform(-0.004, 0.004), "w_out": Weights(0.004)},
            note="The mean of the squares is about as large as eps.",
        ),
        sized(
            "denormal",
            "denormal",
            2,
            20,
            2,
            16,
            64,
            inputs={
                "x": Uniform(-5e-5, 5e-5),
                "w_out": Uniform(-5e-5, 5e-5),
                "w_down": Uniform(-5e-5, 5e-5),
            },
            note="Denormal inputs and results count.",
        ),
        sized(
            "large_mean",
            "cancellation",
            2,
            20,
            2,
            32,
            64,
            inputs={"x": Normal(8, 1), "w_qkv": Weights(0.5)},
        ),
        sized(
            "nan_sequence",
            "nan",
            4,
            20,
            2,
            16,
            64,
            inputs={"x": Rows(NAN, 2)},
            note="A sequence of NaN leaves the others alone.",
        ),
        sized(
            "nan_token",
            "nan",
            40,
            1,
            2,
            16,
            64,
            inputs={"x": Sprinkle(NAN, 0.01)},
            timed=False,  # of more tokens, what earlier ones get depends on the way
            note="One NaN makes all of its token NaN, and no other token.",
        ),
        sized(
            "nan_in_w_down",
            "nan",
            2,
            20,
            2,
            16,
            64,
            inputs={"w_down": Sprinkle(NAN, 0.002, Weights(1.5))},
            note="NaN in its column of out.",
        ),
        sized("pos_inf", "pos_inf", 4, 20, 2, 16, 64, inputs={"x": Rows(INF, 2)}, note="inf * 0 is NaN."),
        sized("neg_inf", "neg_inf", 4, 20, 2, 16, 64, inputs={"x": Rows(-INF, 2)}),
        sized("stream_order", "stream_order", 2, 40, 2, 16, 64, inputs={"x": Choice((0.5, -1.0, 2.0))}),
        sized(
            "odd_as_timed",
            "nan",
            3,
            4095,
            31,
            120,
            14_328,
            inputs={"w_down": Sprinkle(NAN, 1e-7, Weights(1.5))},
            on="gpu",
        ),
        sized("beyond_2_31", "large", 17, 8_193, 4, 64, 16_384, on="gpu"),
    ]
