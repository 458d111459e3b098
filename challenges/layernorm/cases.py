"""The edge cases of layernorm."""

from grader.challenge.cases import INF, NAN, Case, Choice, Constant, Normal, Rows, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", rows=8, cols=64),
        case(
            "no_rows",
            "empty",
            rows=0,
            cols=5,
            note="Nothing to do: a grid of 0 blocks is a launch error in CUDA.",
        ),
        case(
            "no_cols", "empty", rows=5, cols=0, note="Rows without elements: nothing may be read or written."
        ),
        case("no_rows_no_cols", "empty", rows=0, cols=0),
        case("one_element", "one_element", rows=1, cols=1),
        case("one_column", "one_element", rows=33, cols=1, note="It is its own mean: out is beta."),
        case("one_row", "odd", rows=1, cols=513),
        case("two_columns", "range", rows=9, cols=2, note="cols and cols - 1 differ most here."),
        case("odd", "odd", rows=7, cols=99),
        case("prime", "prime", rows=13, cols=211),
        case("aligned", "aligned", rows=128, cols=1024),
        *[
            case(f"cols_{cols}", "block_edge", rows=3, cols=cols)
            for cols in (31, 32, 33, 127, 128, 129, 1023, 1024, 1025)
        ],
        case("rows_1025", "block_edge", rows=1025, cols=3),
        case(
            "zeros",
            "zeros",
            rows=5,
            cols=77,
            inputs={"x": Constant(0)},
            note="Variance 0: eps alone is under the root, and out is beta.",
        ),
        case("ones", "ones", rows=5, cols=77, inputs={"x": Constant(1), "gamma": Constant(1)}),
        case("no_shift", "zeros", rows=5, cols=77, inputs={"beta": Constant(0)}),
        case("no_scale", "zeros", rows=5, cols=77, inputs={"gamma": Constant(0)}, note="out is beta."),
        case(
            "large_eps",
            "range",
            rows=5,
            cols=77,
            scalars={"eps": 0.5},
            note="eps is added to the variance, under the root.",
        ),
        case(
            "small_spread",
            "range",
            rows=5,
            cols=77,
            inputs={"x": Normal(0, 0.003)},
            note="The variance is about eps: where eps stands decides.",
        ),
        case("huge", "huge", rows=5, cols=77, inputs={"x": Uniform(-1e17, 1e17)}),
        case("tiny", "tiny", rows=5, cols=77, inputs={"x": Uniform(-1e-30, 1e-30), "beta": Constant(0)}),
        case(
            "denormal",
            "denormal",
            rows=5,
            cols=77,
            inputs={"x": Uniform(-1e-38, 1e-38), "beta": Constant(0)},
        ),
        case(
            "nan",
            "nan",
            rows=20,
            cols=33,
            inputs={"x": Sprinkle(NAN, 0.01)},
            note="Its whole row is NaN, and no other.",
        ),
        case("nan_in_gamma", "nan", rows=9, cols=33, inputs={"gamma": Sprinkle(NAN, 0.05)}),
        case("nan_in_beta", "nan", rows=9, cols=33, inputs={"beta": Sprinkle(NAN, 0.05)}),
        case(
            "pos_inf",
            "pos_inf",
            rows=20,
            cols=33,
            inputs={"x": Sprinkle(INF, 0.01)},
            note="The mean is infinite: its row is NaN.",
        ),
        case("neg_inf", "neg_inf", rows=20, cols=33, inputs={"x": Sprinkle(-INF, 0.01)}),
        case("inf_rows", "pos_inf", rows=7, cols=33, inputs={"x": Rows(INF, 3)}),
        case("ties", "ties", rows=6, cols=50, inputs={"x": Choice((2.0, -1.0))}),
        case(
            "large_mean",
            "cancellation",
            rows=9,
            cols=300,
            inputs={"x": Normal(1000, 1)},
            note="The mean of squares minus the square of the mean has no digits left.",
            timed=True,
        ),
        case("larger_mean", "cancellation", rows=9, cols=300, inputs={"x": Normal(-20000, 1)}),
        case(
            "large_mean_long_row",
            "cancellation",
            rows=2,
            cols=9001,
            inputs={"x": Normal(5000, 1)},
        ),
        case("stream_order", "stream_order", rows=40, cols=500),
        case("large", "large", rows=7, cols=9001, note="Longer than a block holds."),
        case(
            "no_eps",
            "range",
            rows=5,
            cols=77,
            inputs={"x": Normal(0, 1e-8)},
            scalars={"eps": 0.0},
            note="The variance is 1e-16, and nothing may be added to it.",
        ),
        case("large_eps_in_long_rows", "range", rows=3, cols=2_050, scalars={"eps": 0.5}),
        case(
            "nan_in_long_rows", "nan", rows=7, cols=9_001, inputs={"x": Sprinkle(NAN, 0.00003)}, timed=False
        ),
        case(
            "odd_as_timed",
            "nan",
            rows=65_537,
            cols=4_097,
            inputs={"x": Sprinkle(NAN, 0.00001)},
            scalars={"eps": 0.5},
            on="gpu",
        ),
        case("beyond_2_31", "large", rows=525_313, cols=4_097, on="gpu"),
    ]
