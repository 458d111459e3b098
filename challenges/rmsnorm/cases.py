"""The edge cases of rmsnorm."""

from grader.challenge.cases import INF, NAN, At, Case, Choice, Constant, Normal, Rows, Sprinkle, Uniform, case


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
        case("one_column", "one_element", rows=33, cols=1, note="Each becomes its sign, times gamma."),
        case("one_row", "odd", rows=1, cols=513),
        case("odd", "odd", rows=7, cols=99),
        case("prime", "prime", rows=13, cols=211),
        case("aligned", "aligned", rows=128, cols=1024),
        *[
            case(f"cols_{cols}", "block_edge", rows=3, cols=cols)
            for cols in (31, 32, 33, 127, 128, 129, 1023, 1024, 1025)
        ],
        case("rows_129", "block_edge", rows=129, cols=3),
        case(
            "zeros",
            "zeros",
            rows=5,
            cols=77,
            inputs={"x": Constant(0)},
            note="0 / sqrt(eps) is 0: eps keeps it from being NaN.",
        ),
        case("no_scale", "zeros", rows=5, cols=77, inputs={"gamma": Constant(0)}),
        case("ones", "ones", rows=5, cols=77, inputs={"x": Constant(1), "gamma": Constant(1)}),
        case(
            "large_eps",
            "range",
            rows=5,
            cols=77,
            scalars={"eps": 0.5},
            note="eps is added to the mean of the squares, under the root.",
        ),
        case(
            "small_values",
            "range",
            rows=5,
            cols=77,
            inputs={"x": Normal(0, 0.003)},
            note="The mean of the squares is about eps: where eps stands decides.",
        ),
        case("mean_3", "range", rows=5, cols=77, inputs={"x": Normal(3, 1)}, note="No mean is subtracted."),
        case("huge", "huge", rows=5, cols=77, inputs={"x": Uniform(-1e17, 1e17)}),
        case("tiny", "tiny", rows=5, cols=77, inputs={"x": Uniform(-1e-30, 1e-30)}),
        case(
            "denormal",
            "denormal",
            rows=5,
            cols=77,
            inputs={"x": Uniform(-1e-38, 1e-38)},
            scalars={"eps": 1.0},
            note="Results below 1.2e-38 are denormal: they are kept, not flushed to 0.",
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
        case(
            "inf_in_gamma",
            "pos_inf",
            rows=9,
            cols=33,
            inputs={"x": Sprinkle(0.0, 0.2), "gamma": Sprinkle(INF, 0.05)},
            note="The column is infinite, and NaN where x is 0.",
        ),
        case(
            "pos_inf",
            "pos_inf",
            rows=20,
            cols=33,
            inputs={"x": Sprinkle(INF, 0.01)},
            note="1 / inf is 0: the row is 0, and where it held the infinity NaN.",
        ),
        case("neg_inf", "neg_inf", rows=20, cols=33, inputs={"x": Sprinkle(-INF, 0.01)}),
        case(
            "inf_at_ends",
            "pos_inf",
            rows=7,
            cols=33,
            inputs={"x": At(INF, (0, -1))},
            timed=False,
            note="NaN at both ends of each row, and 0 between.",
        ),
        case("ties", "ties", rows=6, cols=50, inputs={"x": Choice((2.0, -1.0))}),
        case("stream_order", "stream_order", rows=40, cols=500),
        case("large", "large", rows=7, cols=9001, note="Longer than a block holds."),
        case("positive_long_row", "large", rows=2, cols=20_011, inputs={"x": Uniform(1, 2)}),
        case(
            "no_eps",
            "range",
            rows=5,
            cols=77,
            inputs={"x": Rows(0, 4, Normal(0, 0.003))},
            scalars={"eps": 0.0},
            note="eps = 0 is a value like any other: 0 / 0 is NaN in a row of zeros.",
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
