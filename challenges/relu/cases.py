"""The edge cases of relu."""

from grader.challenge.cases import INF, NAN, At, Case, Choice, Normal, Sprinkle, Uniform, case


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
            for n in (31, 33, 127, 129, 255, 257, 1023, 1024, 1025, 2049, 4097)
        ],
        case("zeros", "zeros", n=300, inputs={"x": Choice((0.0, -0.0))}, note="Any zero will do for -0.0."),
        case("ones", "ones", n=300, inputs={"x": Choice((1.0, -1.0))}),
        case("all_negative", "range", n=300, inputs={"x": Uniform(-3, -1)}),
        case("all_positive", "range", n=300, inputs={"x": Uniform(1, 30)}),
        case("huge", "huge", n=300, inputs={"x": Uniform(-3e38, 3e38)}),
        case("tiny", "tiny", n=300, inputs={"x": Uniform(-1e-30, 1e-30)}),
        case(
            "denormal",
            "denormal",
            n=300,
            inputs={"x": Uniform(-1e-39, 1e-39)},
            note="Below 1.2e-38 a float32 is denormal: it is kept, not flushed to 0.",
        ),
        case("nan", "nan", n=300, inputs={"x": Sprinkle(NAN, 0.1)}, note="NaN stays NaN, as in PyTorch."),
        case(
            "negative_nan",
            "nan",
            n=300,
            inputs={"x": Sprinkle(-NAN, 0.1)},
            note="NaN has a sign bit as well; it is NaN all the same.",
        ),
        case("pos_inf", "pos_inf", n=300, inputs={"x": Sprinkle(INF, 0.1)}),
        case("neg_inf", "neg_inf", n=300, inputs={"x": Sprinkle(-INF, 0.1)}, note="-inf becomes 0."),
        case("many_digits", "range", n=300, inputs={"x": Normal(0, 1000)}),
        case("large", "large", n=100_002, note="Even, and no multiple of four."),
        case(
            "special_300007",
            "nan",
            n=300_007,
            inputs={"x": Choice((NAN, INF, -INF, 1e-44, -3e38, 3e38, -1.5, 2.0))},
            timed=False,
            note="All of them, in many blocks.",
        ),
        case(
            "odd_as_timed",
            "nan",
            n=268_435_459,
            inputs={"x": Choice((NAN, INF, -INF, 1e-44, -3e38, 3e38, -1.5, 2.0))},
            on="gpu",
        ),
        case(
            "beyond_2_31", "large", n=2_151_678_979, inputs={"x": At(NAN, (-1, -2, -3, -4_194_305))}, on="gpu"
        ),
    ]
