"""The edge cases of coo_to_csr. Unless a case says otherwise, entries are anywhere in the rows, with some in the first
and some in the last.
"""

from grader.challenge.cases import Ascending, Case, Constant, Offsets, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", rows=40, nnz=300),
        case(
            "no_rows",
            "empty",
            rows=0,
            nnz=0,
            inputs={"row": Constant(0)},
            note="row_ptr has one element: 0.",
        ),
        case(
            "no_entries",
            "empty",
            rows=37,
            nnz=0,
            note="row_ptr is all zeros, and they must be written. A grid of 0 blocks is a launch error in CUDA.",
        ),
        case("one_row", "one_element", rows=1, nnz=777),
        case("one_entry", "one_element", rows=1, nnz=1, inputs={"row": Constant(0)}),
        case(
            "one_entry_in_many_rows",
            "one_element",
            rows=5000,
            nnz=1,
            inputs={"row": Constant(1234)},
            timed=False,
            note="0 up to its row, 1 from there on.",
        ),
        case("odd", "odd", rows=45, nnz=333),
        case("prime", "prime", rows=101, nnz=1009),
        case("aligned", "aligned", rows=1024, nnz=16_384),
        *[
            case(f"nnz_{nnz}", "block_edge", rows=50, nnz=nnz)
            for nnz in (31, 32, 33, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097)
        ],
        *[
            case(f"rows_{rows}", "block_edge", rows=rows, nnz=900)
            for rows in (31, 32, 33, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025)
        ],
        case(
            "one_in_each_row",
            "range",
            rows=3001,
            nnz=3001,
            inputs={"row": Ascending(0, 3001)},
            timed=False,
            note="row_ptr[r] is r.",
        ),
        case(
            "few_entries",
            "range",
            rows=9001,
            nnz=200,
            timed=False,
            note="Most rows have no entry, many of them in a row; each needs its offset.",
        ),
        case(
            "first_rows_empty",
            "range",
            rows=700,
            nnz=900,
            inputs={"row": Offsets(530, 699)},
            timed=False,
            note="Ahead of the first entry offsets are 0.",
        ),
        case(
            "last_rows_empty",
            "range",
            rows=700,
            nnz=900,
            inputs={"row": Offsets(0, 170)},
            timed=False,
            note="Behind the last entry offsets are nnz.",
        ),
        case(
            "gap_in_the_middle",
            "range",
            rows=9001,
            nnz=600,
            inputs={"row": Offsets(8000, 8003)},
            timed=False,
        ),
        case("all_in_first_row", "range", rows=60, nnz=3001, inputs={"row": Constant(0)}, timed=False),
        case("all_in_last_row", "range", rows=60, nnz=3001, inputs={"row": Constant(59)}, timed=False),
        case(
            "all_in_one_row",
            "ties",
            rows=2003,
            nnz=20_011,
            inputs={"row": Constant(1000)},
            timed=False,
            note="Many blocks see no other row.",
        ),
        case("two_rows", "ties", rows=2, nnz=5003),
        case("large", "large", rows=6007, nnz=30_011),
        case("many_rows", "large", rows=40_009, nnz=20_011),
        case(
            "one_row_has_70001",
            "large",
            rows=5,
            nnz=70_001,
            inputs={"row": Constant(3)},
            timed=False,
            note="More than 16 bits count.",
        ),
        case(
            "odd_as_timed",
            "large",
            rows=134_217_731,
            nnz=536_870_917,
            inputs={"row": Offsets(0, 134_217_730)},
            on="gpu",
        ),
        case(
            "one_row_beyond_2_24",
            "ties",
            rows=1001,
            nnz=536_870_917,
            inputs={"row": Constant(77)},
            note="More than a float32 counts.",
            on="gpu",
        ),
        case(
            "most_entries",
            "large",
            rows=7,
            nnz=2_147_483_647,
            inputs={"row": Constant(2)},
            note="The last offset is the largest int32: the number of an entry plus one is just in range.",
            on="gpu",
        ),
    ]
