"""The edge cases of run_length. Unless a case says otherwise, most elements are 0, and a run has 4.4 on average."""

from grader.challenge.cases import (
    Ascending,
    At,
    Case,
    Choice,
    Constant,
    Filling,
    Integers,
    Offsets,
    Rows,
    Sprinkle,
    case,
)

_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1


def inputs() -> dict[str, Filling]:
    """Seven of eight elements are 0: runs of zeros have 8 elements on average, others little more than 1."""
    return {"x": Choice((0,) * 14 + (-3, _INT_MAX))}


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000),
        case("empty", "empty", n=0, note="There is no run: count is 0, and must be written."),
        case("one_element", "one_element", n=1, inputs={"x": Constant(-7)}, note="One run of length 1."),
        case("odd", "odd", n=777),
        case("prime", "prime", n=1009),
        case("aligned", "aligned", n=16_384),
        *[
            case(f"n_{n}", "block_edge", n=n)
            for n in (31, 32, 33, 127, 128, 129, 255, 257, 1023, 1024, 1025, 3071, 3072, 3073, 4097, 8193)
        ],
        case(
            "zeros",
            "zeros",
            n=5000,
            inputs={"x": Constant(0)},
            note="One run. The first element begins a run, also if it is 0.",
        ),
        case("ones", "ones", n=5000, inputs={"x": Constant(1)}),
        case(
            "all_different",
            "range",
            n=9001,
            inputs={"x": Integers(_INT_MIN, 2**31)},
            note="Nearly every element is a run: values is nearly a copy of x.",
            timed=True,
        ),
        case(
            "ascending",
            "range",
            n=3001,
            inputs={"x": Ascending(-5000, 5000)},
            note="Each element is a run.",
            timed=False,
        ),
        case(
            "alternating",
            "range",
            n=3001,
            inputs={"x": Rows(1, 2, Constant(0))},
            note="Every element is equal to that two places before, and none to its neighbour.",
        ),
        case(
            "two_values",
            "range",
            n=5003,
            inputs={"x": Integers(0, 2)},
            note="A value that comes back begins another run.",
        ),
        case("few_values", "ties", n=5003, inputs={"x": Integers(-2, 3)}),
        case("sorted", "range", n=3001, inputs={"x": Offsets(-300, 300)}, timed=False),
        case(
            "long_runs",
            "range",
            n=20_011,
            inputs={"x": Sprinkle(9, 0.0005, Constant(4))},
            note="Most blocks hold no beginning of a run.",
        ),
        case(
            "first_differs",
            "range",
            n=9001,
            inputs={"x": At(5, (0,), Constant(3))},
            note="The second run goes through many blocks.",
        ),
        case(
            "last_differs",
            "range",
            n=9001,
            inputs={"x": At(5, (-1,), Constant(3))},
            note="The last run has one element, and begins in the last block.",
        ),
        case(
            "last_two",
            "range",
            n=9000,
            inputs={"x": At(5, (-1, -2), Constant(3))},
        ),
        case(
            "runs_end_with_blocks",
            "block_edge",
            n=8192,
            inputs={"x": Rows(1, 256, Constant(0))},
            note="A run of 255 ends where a block of 256 does.",
        ),
        case("runs_of_1022", "range", n=9001, inputs={"x": Rows(1, 1023, Constant(0))}),
        case(
            "extremes",
            "range",
            n=3001,
            inputs={"x": Choice((_INT_MIN, _INT_MAX, 0, -1))},
            note="The difference of two elements may not fit an int32.",
        ),
        case(
            "close",
            "range",
            n=3001,
            inputs={"x": Integers(2**30, 2**30 + 3)},
            note="A float32 does not tell these numbers apart.",
        ),
        case(
            "upper_halves",
            "range",
            n=3001,
            inputs={"x": Choice((0, 65_536, -65_536))},
            note="Neighbours differ in their upper 16 bits alone.",
        ),
        case("large", "large", n=20_011),
        case(
            "one_run_of_70001",
            "large",
            n=70_001,
            inputs={"x": Constant(-1)},
            note="A length of more than 16 bits.",
            timed=False,
        ),
        case(
            "runs_in_70003",
            "large",
            n=70_003,
            inputs={"x": Integers(_INT_MIN, 2**31)},
            note="More runs than 16 bits count.",
            timed=False,
        ),
        case("odd_as_timed", "large", n=402_653_189, on="gpu"),
        case(
            "one_run_beyond_2_24",
            "ties",
            n=134_217_757,
            inputs={"x": Constant(-5)},
            note="A float32 does not count so far.",
            on="gpu",
        ),
        case(
            "nearly_2_31",
            "large",
            n=2_147_483_629,
            inputs={"x": Sprinkle(9, 0.00000001, Constant(4))},
            note="The largest prime but one that fits an int32: the number of a thread may be beyond 2^31.",
            on="gpu",
        ),
    ]
