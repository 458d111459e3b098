"""The edge cases of heat_3d."""

from grader.challenge.cases import INF, NAN, At, Case, Choice, Constant, Normal, Rows, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", depth=9, height=12, width=20),
        case(
            "no_planes",
            "empty",
            depth=0,
            height=5,
            width=7,
            note="Nothing to do: a grid of 0 blocks is a launch error in CUDA.",
        ),
        case("no_rows", "empty", depth=5, height=0, width=7),
        case("no_columns", "empty", depth=5, height=7, width=0),
        case("one_element", "one_element", depth=1, height=1, width=1, note="It is on a side: it stays."),
        case("one_plane", "one_element", depth=1, height=12, width=35, note="All of it is border."),
        case("one_row", "one_element", depth=12, height=1, width=35, note="All of it is border."),
        case("one_column", "one_element", depth=12, height=35, width=1, note="All of it is border."),
        case("two_planes", "odd", depth=2, height=11, width=35, note="All of it is border."),
        case("one_inner", "odd", depth=3, height=3, width=3, note="One element has six neighbours."),
        case("one_inner_plane", "odd", depth=3, height=21, width=50),
        case("one_inner_row", "odd", depth=21, height=3, width=50),
        case("one_inner_column", "odd", depth=21, height=50, width=3),
        case("odd", "odd", depth=9, height=15, width=33),
        case("prime", "prime", depth=7, height=13, width=41),
        case("aligned", "aligned", depth=16, height=32, width=128),
        *[
            case(f"steps_{steps}", "range", depth=8, height=17, width=35, scalars={"steps": steps})
            for steps in (1, 2, 3, 5, 8)
        ],
        case(
            "no_steps",
            "range",
            depth=5,
            height=9,
            width=21,
            scalars={"steps": 0},
            note="The result is the grid as it was: a copy.",
        ),
        case("gentle", "range", depth=8, height=17, width=35, scalars={"alpha": 0.03125}),
        case(
            "steps_as_planes",
            "range",
            depth=6,
            height=6,
            width=6,
            scalars={"steps": 6, "alpha": 0.125},
            note="After six steps each side has reached every inner element.",
        ),
        *[
            case(f"width_{width}", "block_edge", depth=4, height=5, width=width, scalars={"steps": 2})
            for width in (15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 257)
        ],
        *[
            case(f"height_{height}", "block_edge", depth=4, height=height, width=6, scalars={"steps": 2})
            for height in (15, 16, 17, 31, 33, 65, 129)
        ],
        *[
            case(f"depth_{depth}", "block_edge", depth=depth, height=5, width=6, scalars={"steps": 2})
            for depth in (15, 16, 17, 31, 33, 65)
        ],
        *[
            # Tiles, and tiles with one or two elements more on each side.
            case(f"tile_{height}_{width}", "large", depth=5, height=height, width=width, scalars={"steps": 2})
            for height, width in ((18, 34), (20, 36), (30, 62), (34, 66), (58, 122), (36, 132))
        ],
        case("zeros", "zeros", depth=6, height=10, width=30, inputs={"grid": Constant(0)}),
        case(
            "hot_plane",
            "zeros",
            depth=9,
            height=10,
            width=30,
            inputs={"grid": Rows(1, 1000, Constant(0))},
            note="Heat comes from the first plane alone: after four steps it reaches four planes further.",
        ),
        case(
            "hot_side",
            "zeros",
            depth=7,
            height=10,
            width=31,
            inputs={"grid": At(1, (-1,), Constant(0))},
            note="Heat comes from the last column alone.",
        ),
        case(
            "ones",
            "ones",
            depth=6,
            height=10,
            width=30,
            inputs={"grid": Constant(1)},
            note="A grid of equal elements stays as it is.",
        ),
        case("huge", "huge", depth=6, height=10, width=30, inputs={"grid": Uniform(-3e37, 3e37)}),
        case("tiny", "tiny", depth=6, height=10, width=30, inputs={"grid": Uniform(-1e-30, 1e-30)}),
        case(
            "denormal",
            "denormal",
            depth=6,
            height=10,
            width=30,
            inputs={"grid": Uniform(-1e-39, 1e-39)},
        ),
        case(
            "cancellation",
            "cancellation",
            depth=6,
            height=10,
            width=30,
            inputs={"grid": Choice((1e6, -1e6, 1.0))},
            note="Small results of large terms: errors are measured against the terms.",
        ),
        case("large_mean", "cancellation", depth=6, height=10, width=30, inputs={"grid": Normal(1000, 1)}),
        case(
            "nan",
            "nan",
            depth=12,
            height=14,
            width=40,
            inputs={"grid": Sprinkle(NAN, 0.002)},
            note="A step takes it one element further, in six directions. On a side it stays alone.",
        ),
        case(
            "nan_once",
            "nan",
            depth=9,
            height=14,
            width=40,
            scalars={"steps": 1},
            inputs={"grid": Sprinkle(NAN, 0.01)},
            note="After one step it is at its place and at its six neighbours.",
        ),
        case(
            "nan_on_sides",
            "nan",
            depth=7,
            height=12,
            width=40,
            scalars={"steps": 1},
            inputs={"grid": At(NAN, (0, -1), Rows(NAN, 6))},
            note="Sides stay; edges and corners have no inner neighbour.",
        ),
        case(
            "pos_inf",
            "pos_inf",
            depth=12,
            height=14,
            width=40,
            inputs={"grid": Sprinkle(INF, 0.002)},
            note="inf stays inf, because 1 - 6 alpha is positive: inf - 6 inf would be NaN.",
        ),
        case("neg_inf", "neg_inf", depth=12, height=14, width=40, inputs={"grid": Sprinkle(-INF, 0.002)}),
        case(
            "both_inf",
            "pos_inf",
            depth=8,
            height=14,
            width=40,
            scalars={"steps": 1},
            inputs={"grid": Sprinkle(INF, 0.05, Sprinkle(-INF, 0.05))},
            note="inf - inf is NaN.",
        ),
        case("large", "large", depth=7, height=37, width=131, scalars={"steps": 3}),
        case("wide", "large", depth=4, height=5, width=3_001, scalars={"steps": 2}),
        case("high", "large", depth=4, height=3_001, width=5, scalars={"steps": 2}),
        case("deep", "large", depth=131, height=5, width=6, scalars={"steps": 2}),
        case(
            "nan_in_deep",
            "nan",
            depth=71,
            height=5,
            width=9,
            scalars={"steps": 2},
            inputs={"grid": Sprinkle(NAN, 0.0005)},
        ),
        case(
            "inf_in_wide",
            "pos_inf",
            depth=5,
            height=5,
            width=1_501,
            scalars={"steps": 2},
            inputs={"grid": Sprinkle(INF, 0.0002)},
        ),
        case(
            "odd_as_timed",
            "nan",
            depth=771,
            height=775,
            width=789,
            inputs={"grid": Sprinkle(NAN, 0.00001)},
            on="gpu",
        ),
    ]
