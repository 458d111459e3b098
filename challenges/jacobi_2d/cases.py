"""The edge cases of jacobi_2d."""

from grader.challenge.cases import INF, NAN, At, Case, Choice, Constant, Normal, Rows, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", height=24, width=40),
        case(
            "no_rows",
            "empty",
            height=0,
            width=5,
            note="Nothing to do: a grid of 0 blocks is a launch error in CUDA.",
        ),
        case("no_columns", "empty", height=5, width=0),
        case("one_element", "one_element", height=1, width=1, note="It is on the border: it stays."),
        case("one_row", "one_element", height=1, width=301, note="All of it is border."),
        case("one_column", "one_element", height=301, width=1, note="All of it is border."),
        case("two_rows", "odd", height=2, width=77, note="All of it is border."),
        case("two_columns", "odd", height=77, width=2, note="All of it is border."),
        case("one_inner", "odd", height=3, width=3, note="One element has four neighbours."),
        case("one_inner_row", "odd", height=3, width=150),
        case("one_inner_column", "odd", height=150, width=3),
        case("odd", "odd", height=25, width=71),
        case("prime", "prime", height=31, width=101),
        case("aligned", "aligned", height=128, width=256),
        *[
            case(f"width_{width}", "block_edge", height=7, width=width)
            for width in (15, 16, 17, 31, 33, 63, 65, 127, 128, 129, 255, 257, 513, 1025)
        ],
        *[
            case(f"height_{height}", "block_edge", height=height, width=9)
            for height in (15, 16, 17, 31, 32, 33, 65, 129, 257)
        ],
        *[
            # One row and one column, or two, beyond tiles.
            case(f"tile_{height}_{width}", "large", height=height, width=width)
            for height, width in ((33, 129), (34, 130), (66, 258))
        ],
        case(
            "zeros",
            "zeros",
            height=20,
            width=50,
            inputs={"grid": Constant(0)},
        ),
        case(
            "hot_top",
            "zeros",
            height=21,
            width=50,
            inputs={"grid": Rows(1, 1000, Constant(0))},
            note="Heat comes from the top row alone, and after one sweep reaches the row below it.",
        ),
        case(
            "hot_edge",
            "zeros",
            height=21,
            width=50,
            inputs={"grid": At(1, (-1,), Constant(0))},
            note="Heat comes from the last column alone.",
        ),
        case(
            "ones",
            "ones",
            height=20,
            width=50,
            inputs={"grid": Constant(1)},
            note="A grid of equal elements stays as it is.",
        ),
        case(
            "stripes",
            "range",
            height=21,
            width=50,
            inputs={"grid": Rows(-1, 2, Constant(1))},
            note="An element's own value does not count.",
        ),
        case("huge", "huge", height=20, width=50, inputs={"grid": Uniform(-8e37, 8e37)}),
        case("tiny", "tiny", height=20, width=50, inputs={"grid": Uniform(-1e-30, 1e-30)}),
        case("denormal", "denormal", height=20, width=50, inputs={"grid": Uniform(-1e-39, 1e-39)}),
        case(
            "cancellation",
            "cancellation",
            height=20,
            width=50,
            inputs={"grid": Choice((1e6, -1e6, 1.0))},
            note="Small means of large terms: errors are measured against the terms.",
        ),
        case("large_mean", "cancellation", height=20, width=50, inputs={"grid": Normal(1000, 1)}),
        case(
            "nan",
            "nan",
            height=40,
            width=70,
            inputs={"grid": Sprinkle(NAN, 0.01)},
            note="It reaches its four neighbours, and not itself.",
        ),
        case("nan_everywhere", "nan", height=20, width=50, inputs={"grid": Sprinkle(NAN, 0.4)}),
        case(
            "nan_on_border",
            "nan",
            height=33,
            width=60,
            inputs={"grid": At(NAN, (0, -1), Rows(NAN, 32))},
            note="Corners have no inner neighbour.",
            timed=False,
        ),
        case(
            "nan_between_rows",
            "nan",
            height=9,
            width=130,
            inputs={"grid": At(NAN, (0,))},
            note="The element before a row's first one is the last of the row above.",
        ),
        case("pos_inf", "pos_inf", height=40, width=70, inputs={"grid": Sprinkle(INF, 0.01)}),
        case("neg_inf", "neg_inf", height=40, width=70, inputs={"grid": Sprinkle(-INF, 0.01)}),
        case(
            "both_inf",
            "pos_inf",
            height=40,
            width=70,
            inputs={"grid": Choice((INF, -INF, 1.0, 2.0))},
            note="inf - inf is NaN.",
        ),
        case("large", "large", height=301, width=1_003),
        case("wide", "large", height=5, width=20_011),
        case("high", "large", height=20_011, width=5),
        case(
            "nan_in_wide",
            "nan",
            height=7,
            width=20_011,
            inputs={"grid": Sprinkle(NAN, 0.0001)},
            timed=False,
        ),
        case(
            "inf_in_high",
            "pos_inf",
            height=20_011,
            width=7,
            inputs={"grid": Sprinkle(INF, 0.0001)},
            timed=False,
        ),
        case(
            "odd_as_timed",
            "nan",
            height=16_387,
            width=32_771,
            inputs={"grid": Sprinkle(NAN, 0.00001)},
            on="gpu",
        ),
    ]
