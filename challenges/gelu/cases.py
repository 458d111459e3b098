"""The edge cases of gelu."""

from grader.challenge.cases import INF, NAN, At, Case, Choice, Normal, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000),
        case("empty", "empty", n=0, note="Nothing to do: a grid of 0 blocks is a launch error in CUDA."),
        case("one_element", "one_element", n=1),
        case("odd", "odd", n=777),
        case("prime", "prime", n=1009),
        case("aligned", "aligned", n=65536),
        *[case(f"n_{n}", "block_edge", n=n) for n in (31, 33, 127, 129, 255, 257, 1023, 1024, 1025, 4097)],
        case("zeros", "zeros", n=300, inputs={"x": Choice((0.0, -0.0))}),
        case("ones", "ones", n=300, inputs={"x": Choice((1.0, -1.0))}, note="0.8413 and -0.1587."),
        case(
            "near_float_max",
            "huge",
            n=300,
            inputs={"x": Choice((3e38, -3e38, 2e38))},
            note="The result fits a float32; x * 2 on the way to it does not.",
        ),
        case("huge", "huge", n=300, inputs={"x": Uniform(-1e30, 1e30)}),
        case("wide", "range", n=600, inputs={"x": Uniform(-12, 12)}, note="Both tails and all between."),
        case("tiny", "tiny", n=300, inputs={"x": Uniform(-1e-30, 1e-30)}, note="Close to 0 it is x / 2."),
        case(
            "denormal",
            "denormal",
            n=300,
            inputs={"x": Uniform(-1e-38, 1e-38)},
            note="Results below 1.2e-38 are denormal: they are kept, not flushed to 0.",
        ),
        case("nan", "nan", n=300, inputs={"x": Sprinkle(NAN)}),
        case("pos_inf", "pos_inf", n=300, inputs={"x": Sprinkle(INF, 0.2)}, note="+inf stays +inf."),
        case(
            "neg_inf",
            "neg_inf",
            n=300,
            inputs={"x": Sprinkle(-INF, 0.2)},
            note="-inf * 0 is NaN, as in PyTorch; the limit would be 0.",
        ),
        case(
            "negative_tail",
            "cancellation",
            n=600,
            inputs={"x": Uniform(-6, -2)},
            note="1 + erf cancels: errors are measured against |x|.",
        ),
        case(
            "around_zero",
            "cancellation",
            n=600,
            inputs={"x": Normal(0, 0.01)},
            note="erf is small beside 1.",
        ),
        case(
            "stream_order",
            "stream_order",
            n=20_011,
            note="Work on a stream of your own must wait for the default stream, and the default stream for it.",
        ),
        case("large", "large", n=100_003),
        case(
            "special_300007",
            "nan",
            n=300_007,
            inputs={"x": Choice((NAN, INF, -INF, 3e38, -3e38, -4.0, 1.5, 0.01))},
            timed=False,
            note="All of them, in many blocks.",
        ),
        case(
            "odd_as_timed",
            "nan",
            n=300_000_011,
            inputs={"x": Choice((NAN, INF, -INF, 3e38, -3e38, -4.0, 1.5, 0.01))},
            on="gpu",
        ),
        case(
            "beyond_2_31", "large", n=2_151_678_979, inputs={"x": At(NAN, (-1, -2, -3, -4_194_305))}, on="gpu"
        ),
    ]
