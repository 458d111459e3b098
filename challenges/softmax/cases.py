"""The edge cases of softmax."""

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
        case("one_element", "one_element", rows=1, cols=1, note="The softmax of one number is 1."),
        case("one_column", "one_element", rows=33, cols=1),
        case("one_row", "odd", rows=1, cols=513),
        case("odd", "odd", rows=7, cols=99),
        case("prime", "prime", rows=13, cols=211),
        case("aligned", "aligned", rows=128, cols=1024),
        *[
            case(f"cols_{cols}", "block_edge", rows=3, cols=cols)
            for cols in (31, 32, 33, 127, 128, 129, 1023, 1024, 1025)
        ],
        case("rows_129", "block_edge", rows=129, cols=3),
        case("zeros", "zeros", rows=5, cols=77, inputs={"x": Constant(0)}, note="Every element is 1 / cols."),
        case("ones", "ones", rows=5, cols=77, inputs={"x": Constant(1)}),
        case(
            "plus_1000",
            "huge",
            rows=5,
            cols=77,
            inputs={"x": Normal(1000, 3)},
            note="exp(1000) overflows.",
            timed=True,
        ),
        case("minus_1000", "huge", rows=5, cols=77, inputs={"x": Normal(-1000, 3)}, note="exp(-1000) is 0."),
        case(
            "near_float_max",
            "huge",
            rows=5,
            cols=77,
            inputs={"x": Rows(-3e38, 2, Choice((3e38, -3e38, 0.0)))},
            note="Every other row is -3e38 throughout: no finite number is a safe start for the maximum but the least.",
        ),
        case("wide_range", "huge", rows=5, cols=77, inputs={"x": Uniform(-200, 200)}, timed=True),
        case("tiny", "tiny", rows=5, cols=77, inputs={"x": Uniform(-1e-30, 1e-30)}),
        case("denormal", "denormal", rows=5, cols=77, inputs={"x": Uniform(-1e-39, 1e-39)}),
        case("nan", "nan", rows=20, cols=33, inputs={"x": Sprinkle(NAN, 0.01)}, note="Its whole row is NaN."),
        case(
            "pos_inf", "pos_inf", rows=20, cols=33, inputs={"x": Sprinkle(INF, 0.01)}, note="Its row is NaN."
        ),
        case("neg_inf", "neg_inf", rows=20, cols=33, inputs={"x": Sprinkle(-INF, 0.2)}, note="Each gives 0."),
        case(
            "masked_rows",
            "neg_inf",
            rows=6,
            cols=33,
            inputs={"x": Rows(-INF)},
            note="A row of nothing but -inf is NaN, as in PyTorch.",
        ),
        case("mostly_neg_inf", "neg_inf", rows=3, cols=9001, inputs={"x": Sprinkle(-INF, 0.9999)}),
        case(
            "ties",
            "ties",
            rows=6,
            cols=50,
            inputs={"x": Choice((2.0, -1.0))},
            note="Equal inputs, equal outputs.",
        ),
        case("large", "large", rows=7, cols=9001),
        case(
            "plus_1000_in_long_rows",
            "huge",
            rows=3,
            cols=2_050,
            inputs={"x": Normal(1000, 3)},
            timed=False,
            note="exp(1000) overflows in long rows as well.",
        ),
        case(
            "minus_1000_in_20011",
            "huge",
            rows=2,
            cols=20_011,
            inputs={"x": At(-850, (-1, -2, -5), Normal(-1000, 3))},
            note="The largest stand at the end of the row, far above all before them.",
        ),
        case(
            "nan_in_long_rows", "nan", rows=7, cols=9_001, inputs={"x": Sprinkle(NAN, 0.00003)}, timed=False
        ),
        case("odd_as_timed", "huge", rows=1_025, cols=262_145, inputs={"x": Normal(1000, 3)}, on="gpu"),
    ]
