"""The edge cases of vector_add."""

from grader.challenge.cases import INF, NAN, At, Case, Choice, Constant, Normal, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000),
        case("empty", "empty", n=0, note="Nothing to do: a grid of 0 blocks is a launch error in CUDA."),
        case("one_element", "one_element", n=1),
        case("odd", "odd", n=777),
        case("prime", "prime", n=1009),
        case("aligned", "aligned", n=65536),
        *[case(f"n_{n}", "block_edge", n=n) for n in (31, 33, 127, 129, 255, 257, 1023, 1024, 1025, 4097)],
        case("zeros", "zeros", n=300, inputs={"a": Constant(0), "b": Choice((0.0, -0.0))}),
        case("ones", "ones", n=300, inputs={"a": Constant(1), "b": Constant(1)}),
        case(
            "overflow",
            "huge",
            n=300,
            inputs={"a": Constant(3e38), "b": Choice((3e38, -3e38, 1e38))},
            note="3e38 + 3e38 is more than a float32 holds: +inf.",
        ),
        case("huge", "huge", n=300, inputs={"a": Uniform(-1.6e38, 1.6e38), "b": Uniform(-1.6e38, 1.6e38)}),
        case("tiny", "tiny", n=300, inputs={"a": Uniform(-1e-30, 1e-30), "b": Uniform(-1e-30, 1e-30)}),
        case(
            "denormal",
            "denormal",
            n=300,
            inputs={"a": Uniform(-1e-39, 1e-39), "b": Uniform(-1e-39, 1e-39)},
            note="Below 1.2e-38 a float32 is denormal: such sums are kept, not flushed to 0.",
        ),
        case("nan_in_a", "nan", n=300, inputs={"a": Sprinkle(NAN)}),
        case("nan_in_b", "nan", n=300, inputs={"b": Sprinkle(NAN)}),
        case("pos_inf", "pos_inf", n=300, inputs={"a": Sprinkle(INF, 0.2), "b": Sprinkle(INF, 0.2)}),
        case("neg_inf", "neg_inf", n=300, inputs={"a": Sprinkle(-INF, 0.2), "b": Sprinkle(-INF, 0.2)}),
        case(
            "inf_minus_inf",
            "pos_inf",
            n=300,
            inputs={"a": Sprinkle(INF, 0.5), "b": Sprinkle(-INF, 0.5)},
            note="+inf plus -inf is NaN.",
        ),
        case(
            "cancellation", "cancellation", n=300, inputs={"a": Normal(1000, 0.01), "b": Normal(-1000, 0.01)}
        ),
        case("large", "large", n=100_002, note="Even, and no multiple of four."),
        case(
            "special_300007",
            "nan",
            n=300_007,
            inputs={
                "a": Choice((NAN, INF, -INF, 1e-44, 3e38, -1.5, 2.0)),
                "b": Choice((NAN, INF, -INF, 1e-44, 3e38, -1.5, 2.0)),
            },
            timed=False,
            note="All of them, in many blocks.",
        ),
        case(
            "odd_as_timed",
            "nan",
            n=268_435_459,
            inputs={
                "a": Choice((NAN, INF, -INF, 1e-44, 3e38, -1.5, 2.0)),
                "b": Choice((NAN, INF, -INF, 1e-44, 3e38, -1.5, 2.0)),
            },
            on="gpu",
        ),
        case(
            "beyond_2_31", "large", n=2_151_678_979, inputs={"a": At(NAN, (-1, -2, -3, -4_194_305))}, on="gpu"
        ),
    ]
