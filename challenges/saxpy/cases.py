"""The edge cases of saxpy."""

from grader.challenge.cases import INF, NAN, At, Case, Choice, Constant, Normal, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000),
        case("empty", "empty", n=0, note="Nothing to do: a grid of 0 blocks is a launch error in CUDA."),
        case("one_element", "one_element", n=1),
        case("odd", "odd", n=777, scalars={"alpha": -123.4567}),
        case("prime", "prime", n=1009),
        case("aligned", "aligned", n=65536),
        *[
            case(f"n_{n}", "block_edge", n=n)
            for n in (31, 33, 127, 129, 255, 257, 1023, 1024, 1025, 2049, 4097)
        ],
        case("alpha_0", "zeros", n=300, scalars={"alpha": 0.0}, note="y stays as it is."),
        case("zeros", "zeros", n=300, inputs={"x": Constant(0), "y": Choice((0.0, -0.0))}),
        case("ones", "ones", n=300, scalars={"alpha": 1.0}, inputs={"x": Constant(1), "y": Constant(1)}),
        case("alpha_minus_1", "ones", n=300, scalars={"alpha": -1.0}, note="A difference."),
        case(
            "overflow",
            "huge",
            n=300,
            scalars={"alpha": 2.0},
            inputs={"x": Choice((3e38, -3e38, 1.0)), "y": Constant(0)},
            note="6e38 is more than a float32 holds: +inf or -inf.",
        ),
        case("huge", "huge", n=300, inputs={"x": Uniform(-1e38, 1e38), "y": Uniform(-1e38, 1e38)}),
        case("tiny", "tiny", n=300, inputs={"x": Uniform(-1e-30, 1e-30), "y": Uniform(-1e-30, 1e-30)}),
        case(
            "denormal",
            "denormal",
            n=300,
            inputs={"x": Uniform(-1e-39, 1e-39), "y": Uniform(-1e-39, 1e-39)},
            note="Below 1.2e-38 a float32 is denormal: such sums are kept, not flushed to 0.",
        ),
        case("nan_in_x", "nan", n=300, inputs={"x": Sprinkle(NAN)}),
        case("nan_in_y", "nan", n=300, inputs={"y": Sprinkle(NAN)}),
        case(
            "nan_times_0",
            "nan",
            n=300,
            scalars={"alpha": 0.0},
            inputs={"x": Sprinkle(NAN, 0.1)},
            note="0 times NaN is NaN: alpha = 0 is no reason to leave x unread.",
        ),
        case(
            "nan_alpha",
            "range",
            n=300,
            scalars={"alpha": NAN},
            inputs={"x": Choice((0.0, 1.0))},
            note="All of y becomes NaN, also where x is 0.",
        ),
        case("pos_inf", "pos_inf", n=300, inputs={"x": Sprinkle(INF, 0.2), "y": Sprinkle(INF, 0.2)}),
        case(
            "inf_times_0",
            "pos_inf",
            n=300,
            scalars={"alpha": 0.0},
            inputs={"x": Sprinkle(INF, 0.1)},
            note="0 times inf is NaN.",
        ),
        case("neg_inf", "neg_inf", n=300, inputs={"x": Sprinkle(-INF, 0.2), "y": Sprinkle(-INF, 0.2)}),
        case(
            "inf_minus_inf",
            "neg_inf",
            n=300,
            inputs={"x": Sprinkle(INF, 0.5), "y": Sprinkle(-INF, 0.5)},
            note="+inf plus -inf is NaN.",
        ),
        case(
            "cancellation",
            "cancellation",
            n=300,
            scalars={"alpha": -1.5},
            inputs={"x": Normal(1000, 0.01), "y": Normal(1500, 0.01)},
            note="Errors are measured against the terms, not against what is left of them.",
        ),
        case("large", "large", n=100_002, note="Even, and no multiple of four."),
        case(
            "special_300007",
            "nan",
            n=300_007,
            inputs={
                "x": Choice((NAN, INF, -INF, 1e-44, 1e38, -1.5, 2.0)),
                "y": Choice((NAN, INF, -INF, 1e-44, 1e38, -1.5, 2.0)),
            },
            timed=False,
            note="All of them, in many blocks.",
        ),
        case(
            "odd_as_timed",
            "nan",
            n=268_435_459,
            inputs={
                "x": Choice((NAN, INF, -INF, 1e-44, 1e38, -1.5, 2.0)),
                "y": Choice((NAN, INF, -INF, 1e-44, 1e38, -1.5, 2.0)),
            },
            on="gpu",
        ),
        case(
            "beyond_2_31", "large", n=2_151_678_979, inputs={"x": At(NAN, (-1, -2, -3, -4_194_305))}, on="gpu"
        ),
    ]
