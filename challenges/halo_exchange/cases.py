"""The edge cases of halo_exchange."""

from grader.challenge.cases import INF, NAN, At, Case, Choice, Constant, Rows, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", height=12, width=40),
        case(
            "no_rows",
            "empty",
            height=0,
            width=7,
            note="Nothing to do: a grid of 0 blocks is a launch error in CUDA.",
        ),
        case("no_columns", "empty", height=5, width=0),
        case("one_row_each", "one_element", height=1, width=35, note="Two rows in all: both are border."),
        case("one_column", "one_element", height=21, width=1, note="All of it is border."),
        case(
            "two_rows_each",
            "odd",
            height=2,
            width=77,
            note="Each GPU has one inner row, and each of its elements needs the other GPU's in every step.",
        ),
        case("one_inner_column", "odd", height=20, width=3),
        case("odd", "odd", height=9, width=33),
        case("prime", "prime", height=13, width=41),
        case("aligned", "aligned", height=128, width=128, scalars={"steps": 2}),
        *[
            case(f"steps_{steps}", "range", height=11, width=37, scalars={"steps": steps})
            for steps in (1, 2, 3, 5)
        ],
        case(
            "no_steps",
            "range",
            height=7,
            width=21,
            scalars={"steps": 0},
            note="The result is the grid as it was: a copy.",
        ),
        case(
            "more_steps_than_rows",
            "range",
            height=3,
            width=30,
            scalars={"steps": 9},
            note="Each border reaches the other GPU.",
        ),
        *[
            case(f"width_{width}", "block_edge", height=5, width=width, scalars={"steps": 5})
            for width in (31, 33, 127, 129, 241)
        ],
        *[
            case(f"height_{height}", "block_edge", height=height, width=10, scalars={"steps": 5})
            for height in (17, 33, 129)
        ],
        case("zeros", "zeros", height=8, width=30, inputs={"grid": Constant(0)}),
        case(
            "hot_half",
            "zeros",
            height=9,
            width=30,
            inputs={"grid": Rows(1, 2, Constant(0))},
            note="GPU 0's half is hot, GPU 1's cold: each step takes the heat one row further across the cut.",
        ),
        case(
            "hot_side",
            "zeros",
            height=7,
            width=31,
            inputs={"grid": At(1, (-1,), Constant(0))},
            note="Heat comes from the last column alone.",
        ),
        case("huge", "huge", height=8, width=30, inputs={"grid": Uniform(-8e37, 8e37)}),
        case("tiny", "tiny", height=8, width=30, inputs={"grid": Uniform(-1e-30, 1e-30)}),
        case("denormal", "denormal", height=8, width=30, inputs={"grid": Uniform(-1e-39, 1e-39)}),
        case(
            "cancellation",
            "cancellation",
            height=8,
            width=30,
            inputs={"grid": Choice((1e6, -1e6, 1.0))},
            note="Small means of large terms: errors are measured against the terms.",
        ),
        case(
            "nan",
            "nan",
            height=16,
            width=60,
            scalars={"steps": 3},
            inputs={"grid": Sprinkle(NAN, 0.004)},
            note="A step takes it to the four neighbours, and not to its own place.",
        ),
        case(
            "nan_at_the_cut",
            "nan",
            height=2,
            width=120,
            scalars={"steps": 1},
            inputs={"grid": Sprinkle(NAN, 0.05)},
            note="NaN in the last row of GPU 0, or in the first one of GPU 1, reaches the other GPU.",
        ),
        case("pos_inf", "pos_inf", height=16, width=60, inputs={"grid": Sprinkle(INF, 0.002)}),
        case("neg_inf", "neg_inf", height=16, width=60, inputs={"grid": Sprinkle(-INF, 0.002)}),
        case(
            "both_inf",
            "pos_inf",
            height=10,
            width=60,
            scalars={"steps": 2},
            inputs={"grid": Sprinkle(INF, 0.05, Sprinkle(-INF, 0.05))},
            note="inf - inf is NaN.",
        ),
        case("large", "large", height=67, width=251, scalars={"steps": 6}),
        case("wide", "large", height=3, width=3_001, scalars={"steps": 4}),
        case("high", "large", height=1_501, width=5, scalars={"steps": 4}),
    ]
