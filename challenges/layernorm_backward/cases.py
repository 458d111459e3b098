"""The edge cases of layernorm_backward. mean and rstd always are those of x, as the forward pass saves them."""

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
from grader.challenge.derived import RowMean, RowRstd


def inputs() -> dict[str, Filling]:
    """The statistics of x, and a gamma that is neither 1 nor centred on 0."""
    return {"gamma": Uniform(0.5, 1.5), "mean": RowMean("x"), "rstd": RowRstd("x", eps=1e-5)}


def cases() -> list[Case]:
    return [
        case("basic", "basic", rows=8, cols=64),
        case(
            "no_rows",
            "empty",
            rows=0,
            cols=5,
            note="dgamma and dbeta are empty sums: zeros, which must be written.",
        ),
        case(
            "no_cols", "empty", rows=5, cols=0, note="Rows without elements: nothing may be read or written."
        ),
        case("no_rows_no_cols", "empty", rows=0, cols=0),
        case("one_element", "one_element", rows=1, cols=1, note="x is its own mean: dx is 0."),
        case("one_column", "one_element", rows=33, cols=1),
        case("one_row", "odd", rows=1, cols=513),
        case("odd", "odd", rows=7, cols=99),
        case("prime", "prime", rows=13, cols=211),
        case("aligned", "aligned", rows=128, cols=512),
        *[
            case(f"cols_{cols}", "block_edge", rows=3, cols=cols)
            for cols in (31, 32, 33, 127, 128, 129, 1023, 1024, 1025)
        ],
        *[case(f"rows_{rows}", "block_edge", rows=rows, cols=5) for rows in (31, 33, 127, 129, 1023, 1025)],
        case("zeros", "zeros", rows=5, cols=77, inputs={"dy": Constant(0)}, note="No gradient in, none out."),
        case("ones", "ones", rows=5, cols=77, inputs={"dy": Constant(1), "gamma": Constant(1)}),
        case(
            "equal_rows",
            "ties",
            rows=6,
            cols=50,
            inputs={"x": Rows(3.0)},
            note="Rows without variance: rstd is 1 / sqrt(eps), about 316.",
        ),
        case("two_values", "ties", rows=6, cols=50, inputs={"x": Choice((2.0, -1.0))}),
        case("huge_x", "huge", rows=5, cols=77, inputs={"x": Normal(0, 1e8)}, note="dx is tiny then."),
        case("huge_dy", "huge", rows=5, cols=77, inputs={"dy": Normal(0, 1e30)}),
        case(
            "tiny_x",
            "tiny",
            rows=5,
            cols=77,
            inputs={"x": Normal(0, 1e-6), "rstd": RowRstd("x", eps=1e-3)},
            note="eps outweighs variance, and is another one: rstd is what you are given.",
        ),
        case("tiny_dy", "tiny", rows=5, cols=77, inputs={"dy": Uniform(-1e-30, 1e-30)}),
        case("denormal", "denormal", rows=5, cols=77, inputs={"dy": Uniform(-1e-39, 1e-39)}),
        case(
            "nan_dy",
            "nan",
            rows=20,
            cols=33,
            inputs={"dy": Sprinkle(NAN, 0.005), "gamma": Choice((0.0, 1.0))},
            note="Its whole row of dx is NaN, and its column of dgamma and dbeta; nothing else.",
        ),
        case(
            "nan_x",
            "nan",
            rows=20,
            cols=33,
            inputs={"x": Sprinkle(NAN, 0.002)},
            note="The row's statistics are NaN, so its dx and all of dgamma are; dbeta knows nothing of x.",
        ),
        case("nan_gamma", "nan", rows=9, cols=33, inputs={"gamma": Sprinkle(NAN, 0.01)}),
        case("pos_inf", "pos_inf", rows=20, cols=33, inputs={"dy": Sprinkle(INF, 0.005)}),
        case("neg_inf", "neg_inf", rows=20, cols=33, inputs={"dy": Sprinkle(-INF, 0.005)}),
        case(
            "inf_x",
            "pos_inf",
            rows=20,
            cols=33,
            inputs={"dy": Constant(0), "x": Sprinkle(INF, 0.002)},
            note="Rows without a gradient may not be skipped: 0 * NaN is NaN.",
        ),
        case(
            "large_mean",
            "cancellation",
            rows=7,
            cols=300,
            inputs={"x": Normal(1000, 1)},
            note="x - mean first, then times rstd: x * rstd - mean * rstd loses three digits.",
        ),
        case(
            "equal_gradients",
            "cancellation",
            rows=6,
            cols=200,
            inputs={"dy": Normal(1000, 1), "gamma": Constant(1)},
            note="dx is what is left when the mean of dy is taken away.",
        ),
        case("long_rows", "large", rows=3, cols=9001),
        case("many_rows", "large", rows=1801, cols=6, note="Long sums for dgamma and dbeta."),
        case(
            "nan_dy_in_long_rows",
            "nan",
            rows=5,
            cols=9_001,
            inputs={"dy": Sprinkle(NAN, 0.00005)},
            timed=False,
        ),
        case(
            "nan_x_in_many_rows",
            "nan",
            rows=2_049,
            cols=33,
            inputs={"x": Sprinkle(NAN, 0.00005)},
            timed=False,
        ),
        case(
            "odd_as_timed", "nan", rows=65_537, cols=4_097, inputs={"dy": Sprinkle(NAN, 0.0000001)}, on="gpu"
        ),
    ]
