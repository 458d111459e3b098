"""The edge cases of transpose."""

from grader.challenge.cases import INF, NAN, Case, Choice, Constant, Normal, Rows, Sprinkle, Uniform, case

# Sizes one off a multiple of a tile, on one side and on both.
_EDGES = [(31, 32), (32, 33), (33, 33), (63, 65), (64, 64), (65, 127), (129, 64), (127, 129)]


def cases() -> list[Case]:
    return [
        case("basic", "basic", rows=64, cols=96),
        case("wide", "basic", rows=3, cols=400, note="Few rows, many columns."),
        case("tall", "basic", rows=400, cols=3),
        case(
            "no_rows",
            "empty",
            rows=0,
            cols=5,
            note="Nothing to do: a grid of 0 blocks is a launch error in CUDA.",
        ),
        case("no_cols", "empty", rows=5, cols=0),
        case("no_rows_no_cols", "empty", rows=0, cols=0),
        case("one_element", "one_element", rows=1, cols=1),
        case("one_row", "one_element", rows=1, cols=513, note="A row becomes a column: nothing moves."),
        case("one_column", "one_element", rows=513, cols=1),
        case("odd", "odd", rows=15, cols=77),
        case("prime", "prime", rows=53, cols=101),
        case("aligned", "aligned", rows=256, cols=384),
        *[case(f"edge_{rows}_{cols}", "block_edge", rows=rows, cols=cols) for rows, cols in _EDGES],
        case(
            "multiple_of_4", "block_edge", rows=68, cols=132, note="Whole groups of four, but no whole tile."
        ),
        case("zeros", "zeros", rows=20, cols=30, inputs={"x": Choice((0.0, -0.0))}),
        case("ones", "ones", rows=30, cols=20, inputs={"x": Constant(1)}),
        case(
            "striped", "ties", rows=40, cols=30, inputs={"x": Rows(7)}, note="Equal rows give equal columns."
        ),
        case("huge", "huge", rows=20, cols=30, inputs={"x": Uniform(-3e38, 3e38)}),
        case("tiny", "tiny", rows=20, cols=30, inputs={"x": Uniform(-1e-30, 1e-30)}),
        case(
            "denormal",
            "denormal",
            rows=20,
            cols=30,
            inputs={"x": Uniform(-1e-39, 1e-39)},
            note="Numbers are moved, not computed: denormal ones arrive as they are.",
        ),
        case("nan", "nan", rows=20, cols=33, inputs={"x": Sprinkle(NAN, 0.05)}),
        case("pos_inf", "pos_inf", rows=20, cols=33, inputs={"x": Sprinkle(INF, 0.05)}),
        case("neg_inf", "neg_inf", rows=20, cols=33, inputs={"x": Sprinkle(-INF, 0.05)}),
        case("many_digits", "range", rows=20, cols=33, inputs={"x": Normal(0, 1e6)}),
        case("large", "large", rows=301, cols=403),
        case(
            "special_517_603",
            "nan",
            rows=517,
            cols=603,
            inputs={"x": Choice((NAN, INF, -INF, 1e-44, -3e38, 2.0))},
            timed=False,
            note="All of them, in many tiles.",
        ),
        case(
            "odd_as_timed",
            "nan",
            rows=16_385,
            cols=16_387,
            inputs={"x": Choice((NAN, INF, -INF, 1e-44, -3e38, 2.0))},
            on="gpu",
        ),
        case("beyond_2_31", "large", rows=46_387, cols=46_349, on="gpu"),
    ]
