"""The edge cases of argmax_rows."""

from grader.challenge.cases import (
    INF,
    NAN,
    Case,
    Choice,
    Constant,
    Integers,
    Normal,
    Rows,
    Sprinkle,
    Uniform,
    case,
)


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
        case("no_cols", "empty", rows=5, cols=0, note="No maximum: every row is -1, and must be written."),
        case("no_rows_no_cols", "empty", rows=0, cols=0),
        case("one_element", "one_element", rows=1, cols=1),
        case("one_column", "one_element", rows=100, cols=1, note="The only place there is: 0."),
        case("one_row", "odd", rows=1, cols=2049),
        case("odd", "odd", rows=7, cols=99),
        case("prime", "prime", rows=13, cols=211),
        *[
            case(f"cols_{cols}", "block_edge", rows=5, cols=cols)
            for cols in (31, 32, 33, 127, 128, 129, 255, 257, 1023, 1024, 1025, 4095, 4097)
        ],
        case("rows_257", "block_edge", rows=257, cols=3),
        case(
            "zeros", "zeros", rows=5, cols=77, inputs={"x": Choice((0.0, -0.0))}, note="All equal: place 0."
        ),
        case("ones", "ones", rows=5, cols=777, inputs={"x": Constant(1)}, note="All equal: place 0."),
        case("all_negative", "range", rows=9, cols=130, inputs={"x": Uniform(-9, -1)}),
        case("huge", "huge", rows=9, cols=130, inputs={"x": Uniform(-3e38, 3e38)}),
        case("tiny", "tiny", rows=9, cols=130, inputs={"x": Uniform(-1e-30, 1e-30)}),
        case(
            "denormal",
            "denormal",
            rows=9,
            cols=130,
            inputs={"x": Uniform(-1e-39, 1e-39)},
            note="Below 1.2e-38, and yet different numbers.",
        ),
        case(
            "close",
            "cancellation",
            rows=9,
            cols=500,
            inputs={"x": Uniform(1.0, 1.001)},
            note="Values that differ in their last bits: float16 would call them equal.",
            timed=True,
        ),
        case("nan", "nan", rows=20, cols=133, inputs={"x": Sprinkle(NAN, 0.01)}, note="The first NaN wins."),
        case("nan_in_long_rows", "nan", rows=3, cols=5003, inputs={"x": Sprinkle(NAN, 0.002)}),
        case(
            "all_nan",
            "nan",
            rows=4,
            cols=70,
            inputs={"x": Rows(NAN)},
            note="A tie among NaN: place 0.",
            timed=False,
        ),
        case(
            "nan_and_inf",
            "nan",
            rows=20,
            cols=133,
            inputs={"x": Choice((1.0, NAN, INF, -INF))},
            note="NaN counts as larger than +inf.",
        ),
        case("pos_inf", "pos_inf", rows=20, cols=133, inputs={"x": Sprinkle(INF, 0.05)}),
        case("neg_inf", "neg_inf", rows=20, cols=133, inputs={"x": Sprinkle(-INF, 0.2)}),
        case(
            "rows_of_neg_inf",
            "neg_inf",
            rows=9,
            cols=133,
            inputs={"x": Rows(-INF)},
            note="A row of nothing but -inf: place 0.",
        ),
        case("mostly_neg_inf", "neg_inf", rows=3, cols=5003, inputs={"x": Sprinkle(-INF, 0.9995)}),
        case(
            "ties",
            "ties",
            rows=20,
            cols=301,
            inputs={"x": Integers(-20, 20)},
            note="Of equal maxima the first.",
        ),
        case("two_values", "ties", rows=6, cols=2000, inputs={"x": Choice((2.0, -1.0))}),
        case("rare_ties", "ties", rows=6, cols=4999, inputs={"x": Sprinkle(9.0, 0.001, Normal(0, 1))}),
        case("large", "large", rows=7, cols=9001),
        case("long_row", "large", rows=1, cols=70_001),
    ]
