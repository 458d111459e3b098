"""The edge cases of inclusive_scan."""

from grader.challenge.cases import (
    INF,
    NAN,
    At,
    Case,
    Choice,
    Constant,
    Integers,
    Normal,
    Sprinkle,
    Uniform,
    case,
)


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000),
        case("empty", "empty", n=0, note="Nothing to do: a grid of 0 blocks is a launch error in CUDA."),
        case("one_element", "one_element", n=1),
        case("odd", "odd", n=777),
        case("prime", "prime", n=1009),
        case("aligned", "aligned", n=65536),
        *[
            case(f"n_{n}", "block_edge", n=n)
            for n in (31, 32, 33, 127, 128, 129, 255, 257, 1023, 1024, 1025, 4095, 4096, 4097, 8193)
        ],
        case("zeros", "zeros", n=700, inputs={"x": Choice((0.0, -0.0))}),
        case("ones", "ones", n=5000, inputs={"x": Constant(1)}, note="out[i] is i + 1, exactly."),
        case("whole_numbers", "range", n=9001, inputs={"x": Integers(-50, 50)}),
        case("all_positive", "range", n=9001, inputs={"x": Uniform(0, 1)}),
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
            n=1500,
            inputs={"x": Uniform(1e36, 2e36)},
            note="From some place on the sum is more than a float32 holds: +inf.",
        ),
        case("tiny", "tiny", n=1500, inputs={"x": Uniform(-1e-30, 1e-30)}),
        case("denormal", "denormal", n=50, inputs={"x": Uniform(-1e-39, 1e-39)}),
        case("nan", "nan", n=3000, inputs={"x": Sprinkle(NAN, 0.0003)}, note="NaN from its place on."),
        case("nan_late", "nan", n=9001, inputs={"x": Sprinkle(NAN, 0.0001)}),
        case(
            "pos_inf", "pos_inf", n=3000, inputs={"x": Sprinkle(INF, 0.002)}, note="+inf from its place on."
        ),
        case("pos_inf_once", "pos_inf", n=9001, inputs={"x": Sprinkle(INF, 0.0001)}),
        case("neg_inf", "neg_inf", n=3000, inputs={"x": Sprinkle(-INF, 0.002)}),
        case(
            "both_infinities",
            "pos_inf",
            n=3000,
            inputs={"x": Sprinkle(INF, 0.001, Sprinkle(-INF, 0.001))},
            note="One infinity, then the other: NaN from there on.",
        ),
        case(
            "cancellation",
            "cancellation",
            n=6000,
            inputs={"x": Choice((1000.0, -1000.0, 0.001))},
            note="Small sums of large terms: errors are measured against the terms.",
        ),
        case("large_mean", "cancellation", n=6000, inputs={"x": Normal(1000, 1)}),
        case("large", "large", n=70_001),
        case(
            "special_150001",
            "nan",
            n=150_001,
            inputs={"x": At(NAN, (-5,), At(INF, (140_000,)))},
            timed=False,
            note="Infinite from 140,000 on, NaN in the last five.",
        ),
        case(
            "odd_as_timed",
            "nan",
            n=268_435_459,
            inputs={"x": At(NAN, (-5,), At(INF, (200_000_000,)))},
            on="gpu",
        ),
        case("beyond_2_31", "large", n=2_151_678_979, inputs={"x": At(INF, (-5,))}, on="gpu"),
    ]
