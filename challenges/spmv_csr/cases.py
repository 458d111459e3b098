"""The edge cases of spmv_csr. Where a case names no columns, they follow the diagonal, in no order."""

from grader.challenge.cases import (
    INF,
    NAN,
    At,
    Case,
    Choice,
    Constant,
    Filling,
    Integers,
    Normal,
    Sprinkle,
    Uniform,
    case,
)
from grader.challenge.derived import NearDiagonal, RowPointers


def inputs() -> dict[str, Filling]:
    """Rows of uneven length, and columns near the diagonal."""
    return {"row_ptr": RowPointers("nnz"), "col": NearDiagonal(256, "nnz", "cols")}


def cases() -> list[Case]:
    return [
        case("basic", "basic", rows=16, cols=20, nnz=100),
        case("no_rows", "empty", rows=0, cols=5, nnz=0, note="row_ptr holds a single 0, and out is empty."),
        case(
            "no_cols", "empty", rows=5, cols=0, nnz=0, note="out has elements: zeros, which must be written."
        ),
        case("no_entries", "empty", rows=37, cols=20, nnz=0, note="Every row is an empty sum."),
        case("all_0", "empty", rows=0, cols=0, nnz=0),
        case("one_element", "one_element", rows=1, cols=1, nnz=1),
        case("one_row", "one_element", rows=1, cols=300, nnz=777, note="A dot product."),
        case("one_column", "one_element", rows=60, cols=1, nnz=200, note="All entries of a row add up."),
        case("odd", "odd", rows=45, cols=77, nnz=333),
        case("prime", "prime", rows=53, cols=101, nnz=997),
        case("aligned", "aligned", rows=128, cols=256, nnz=1280),
        *[
            case(f"nnz_{nnz}", "block_edge", rows=7, cols=50, nnz=nnz)
            for nnz in (31, 32, 33, 127, 128, 129, 1023, 1024, 1025)
        ],
        *[
            case(f"rows_{rows}", "block_edge", rows=rows, cols=50, nnz=3 * rows)
            for rows in (31, 33, 127, 128, 129, 1023, 1025)
        ],
        case(
            "empty_rows",
            "range",
            rows=600,
            cols=90,
            nnz=200,
            inputs={"row_ptr": RowPointers("nnz", empty=0.6)},
            note="Most rows hold nothing: 0 must be written for each. On average a row has no whole entry.",
        ),
        case(
            "one_row_has_all",
            "range",
            rows=40,
            cols=90,
            nnz=600,
            inputs={"row_ptr": RowPointers("nnz", empty=1)},
            timed=False,  # all work in one row takes a right kernel seconds
        ),
        case(
            "huge_row",
            "large",
            rows=70,
            cols=3000,
            nnz=14000,
            inputs={"row_ptr": RowPointers("nnz", huge=0.95)},
            note="One row is longer than all others together, and than any block.",
        ),
        case(
            "duplicates",
            "ties",
            rows=30,
            cols=64,
            nnz=700,
            inputs={"col": Integers(0, 3)},
            note="A column that comes up twice in a row counts twice.",
        ),
        case(
            "anywhere",
            "basic",
            rows=60,
            cols=5000,
            nnz=900,
            inputs={"col": Integers(0, 5000)},
            note="Columns of a row come in no order.",
        ),
        case(
            "last_column",
            "range",
            rows=20,
            cols=70_001,
            nnz=90,
            inputs={"col": Constant(70_000)},
            timed=False,
        ),
        case("zeros", "zeros", rows=30, cols=40, nnz=300, inputs={"val": Constant(0)}),
        case("ones", "ones", rows=30, cols=40, nnz=300, inputs={"val": Constant(1), "x": Constant(1)}),
        case(
            "overflow",
            "huge",
            rows=30,
            cols=40,
            nnz=300,
            inputs={"val": Uniform(1e25, 2e25), "x": Uniform(1e25, 2e25)},
            note="Every product is more than a float32 holds: +inf; empty rows are 0 all the same.",
        ),
        case(
            "huge", "huge", rows=30, cols=40, nnz=300, inputs={"val": Normal(0, 1e18), "x": Normal(0, 1e18)}
        ),
        case(
            "tiny", "tiny", rows=30, cols=40, nnz=300, inputs={"val": Normal(0, 1e-15), "x": Normal(0, 1e-15)}
        ),
        case("denormal", "denormal", rows=30, cols=40, nnz=300, inputs={"val": Uniform(-1e-39, 1e-39)}),
        case(
            "nan_val",
            "nan",
            rows=60,
            cols=40,
            nnz=300,
            inputs={"val": Sprinkle(NAN, 0.02), "x": Sprinkle(0.0, 0.5)},
            note="Its row is NaN, also where x is 0.",
        ),
        case(
            "nan_x",
            "nan",
            rows=60,
            cols=90,
            nnz=300,
            inputs={"x": At(NAN, (0, -1), Sprinkle(NAN, 0.02))},
            note="NaN in every row that has an entry in its column, and in no other.",
        ),
        case(
            "nan_times_zero",
            "nan",
            rows=60,
            cols=90,
            nnz=300,
            inputs={"val": Choice((0.0, 1.0)), "x": Sprinkle(NAN, 0.05)},
            note="An entry whose value is 0 is an entry: 0 * NaN is NaN.",
        ),
        case(
            "pos_inf", "pos_inf", rows=60, cols=90, nnz=300, inputs={"x": Sprinkle(INF, 0.05, Uniform(1, 2))}
        ),
        case("inf_minus_inf", "pos_inf", rows=60, cols=90, nnz=600, inputs={"val": Choice((INF, -INF, 1.0))}),
        case("neg_inf", "neg_inf", rows=60, cols=90, nnz=300, inputs={"val": Sprinkle(-INF, 0.05)}),
        case(
            "cancellation",
            "cancellation",
            rows=30,
            cols=200,
            nnz=6000,
            inputs={"val": Choice((1e6, -1e6, 1.0)), "x": Constant(1)},
            note="Large terms cancel; errors are measured against the terms.",
        ),
        case("large_mean", "cancellation", rows=30, cols=200, nnz=6000, inputs={"val": Normal(1000, 1)}),
        case("large", "large", rows=700, cols=900, nnz=20000),
        case(
            "nan_x_50021",
            "nan",
            rows=3_001,
            cols=2_003,
            nnz=50_021,
            inputs={"x": Sprinkle(NAN, 0.005)},
            timed=False,
        ),
        case(
            "inf_in_huge_row",
            "pos_inf",
            rows=70,
            cols=3_000,
            nnz=20_011,
            inputs={"row_ptr": RowPointers(huge=0.9), "x": Sprinkle(INF, 0.001, Uniform(1, 2))},
            timed=False,
        ),
        case(
            "odd_as_timed",
            "nan",
            rows=4_194_305,
            cols=1_048_577,
            nnz=176_160_771,
            inputs={"row_ptr": RowPointers(empty=0.3, huge=0.01), "x": Sprinkle(NAN, 0.00001)},
            on="gpu",
        ),
    ]
