"""The edge cases of segmented_scan. Unless a case says otherwise, a segment has 100 elements on average."""

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
    Rows,
    Sprinkle,
    Uniform,
    case,
)

NONE = Constant(0)


def heads(share: float) -> Sprinkle:
    return Sprinkle(1, share, NONE)


def inputs() -> dict[str, Filling]:
    return {"flags": heads(0.01)}


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000),
        case("empty", "empty", n=0, note="Nothing to do: a grid of 0 blocks is a launch error in CUDA."),
        case("one_element", "one_element", n=1, inputs={"flags": NONE}),
        case("odd", "odd", n=777),
        case("prime", "prime", n=1009),
        case("aligned", "aligned", n=16_384),
        *[
            case(f"n_{n}", "block_edge", n=n)
            for n in (31, 32, 33, 127, 128, 129, 255, 257, 1023, 1024, 1025, 2047, 2049, 4097, 8193)
        ],
        case(
            "one_segment",
            "range",
            n=9001,
            inputs={"flags": NONE},
            note="No flag at all: the first segment begins at 0 all the same, and goes through many blocks.",
        ),
        case(
            "all_flags",
            "range",
            n=3001,
            inputs={"flags": Constant(1)},
            note="Each segment has one element: out is a copy of x.",
        ),
        case("half_flags", "range", n=3001, inputs={"flags": Integers(0, 2)}),
        case(
            "flag_values",
            "range",
            n=3001,
            inputs={"flags": Choice((0, 0, 0, 1, 2, 128, 255))},
            note="Any value but 0 begins a segment.",
        ),
        case(
            "few_long_segments",
            "range",
            n=20_011,
            inputs={"flags": heads(0.0002)},
            note="Most blocks hold no flag: a segment goes through them.",
        ),
        case("first_flag", "range", n=9001, inputs={"flags": At(1, (0,), NONE)}),
        case(
            "last_flag",
            "range",
            n=9001,
            inputs={"flags": At(1, (-1,), NONE)},
            note="The last element alone is a segment.",
        ),
        case(
            "segments_of_256",
            "block_edge",
            n=8193,
            inputs={"flags": Rows(1, 256, NONE)},
            note="Segments begin where blocks do.",
        ),
        case("segments_of_1023", "range", n=9001, inputs={"flags": Rows(1, 1023, NONE)}),
        case("zeros", "zeros", n=700, inputs={"x": Choice((0.0, -0.0))}),
        case(
            "ones", "ones", n=5000, inputs={"x": Constant(1)}, note="The place within the segment, exactly."
        ),
        case("whole_numbers", "range", n=5000, inputs={"x": Integers(-50, 50)}),
        case("all_positive", "range", n=9001, inputs={"x": Uniform(0, 1), "flags": NONE}, timed=False),
        case(
            "huge",
            "huge",
            n=1500,
            inputs={"x": Uniform(-1e35, 1e35)},
            note="Close to the largest float32, and finite.",
        ),
        case(
            "overflow",
            "huge",
            n=3000,
            inputs={"x": Uniform(5e36, 6e36)},
            note="Long segments exceed what a float32 holds: +inf up to their end. The next one begins again.",
        ),
        case(
            "sums_of_all_overflow",
            "huge",
            n=9001,
            inputs={"x": Uniform(1e35, 2e35)},
            note="Each segment is finite; the sum of all is not.",
        ),
        case("tiny", "tiny", n=1500, inputs={"x": Uniform(-1e-30, 1e-30)}),
        case("denormal", "denormal", n=50, inputs={"x": Uniform(-1e-39, 1e-39)}),
        case(
            "nan",
            "nan",
            n=3000,
            inputs={"x": Sprinkle(NAN, 0.003)},
            note="NaN from its place to the end of its segment, and no further.",
        ),
        case(
            "nan_in_long_segments", "nan", n=9001, inputs={"x": Sprinkle(NAN, 0.0005), "flags": heads(0.001)}
        ),
        case(
            "nan_at_flags",
            "nan",
            n=3001,
            inputs={"x": Sprinkle(NAN, 0.1), "flags": Integers(0, 2)},
            note="Segments of a few elements; many begin or end with NaN.",
        ),
        case(
            "pos_inf",
            "pos_inf",
            n=3000,
            inputs={"x": Sprinkle(INF, 0.003)},
            note="+inf from its place to the end of its segment.",
        ),
        case("pos_inf_once", "pos_inf", n=9001, inputs={"x": Sprinkle(INF, 0.0001), "flags": heads(0.0005)}),
        case("neg_inf", "neg_inf", n=3000, inputs={"x": Sprinkle(-INF, 0.003)}),
        case(
            "both_infinities",
            "pos_inf",
            n=3000,
            inputs={"x": Sprinkle(INF, 0.005, Sprinkle(-INF, 0.005))},
            note="One infinity, then the other in the same segment: NaN up to its end.",
        ),
        case(
            "cancellation",
            "cancellation",
            n=6000,
            inputs={"x": Choice((1000.0, -1000.0, 0.001))},
            note="Small sums of large terms: errors are measured against the terms.",
        ),
        case("large_mean", "cancellation", n=6000, inputs={"x": Normal(1000, 1)}),
        case(
            "large_next_to_small",
            "cancellation",
            n=6000,
            inputs={"x": Sprinkle(1e30, 0.01), "flags": heads(0.1)},
            note="Rounding errors of a large segment do not reach a small one.",
        ),
        case("large", "large", n=40_009),
        case(
            "special_70001",
            "nan",
            n=70_001,
            inputs={"x": At(NAN, (-5,), At(INF, (60_000,))), "flags": heads(0.0001)},
            timed=False,
            note="Segments of about 10,000 elements, one infinity, one NaN.",
        ),
        case(
            "odd_as_timed",
            "nan",
            n=268_435_459,
            inputs={"x": At(NAN, (-5,), At(INF, (200_000_000,))), "flags": heads(0.00001)},
            on="gpu",
        ),
    ]
