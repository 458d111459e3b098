"""The edge cases of all_reduce."""

from grader.challenge.cases import INF, NAN, At, Case, Choice, Constant, Normal, Rows, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000),
        case("empty", "empty", n=0, note="Nothing to do: a grid of 0 blocks is a launch error in CUDA."),
        case(
            "one_element",
            "one_element",
            n=1,
            note="Half of one element is none: both GPUs need the sum all the same.",
        ),
        case("n_2", "basic", n=2),
        *[case(f"n_{n}", "odd", n=n) for n in (3, 5, 7, 9)],
        case("odd", "odd", n=777, note="If each GPU sums one half, one of the halves is longer."),
        case("prime", "prime", n=1009),
        case("aligned", "aligned", n=65536),
        *[
            case(f"n_{n}", "block_edge", n=n)
            for n in (31, 33, 127, 129, 255, 257, 1023, 1025, 4095, 4097, 8193)
        ],
        case("zeros", "zeros", n=300, inputs={"x": Choice((0.0, -0.0))}),
        case(
            "zeros_on_gpu_0",
            "zeros",
            n=300,
            inputs={"x": Rows(0)},
            note="Both sums are what GPU 1 has: nobody may take GPU 0's numbers alone.",
        ),
        case("ones", "ones", n=300, inputs={"x": Constant(1)}, note="A sum, not a mean."),
        case(
            "overflow",
            "huge",
            n=300,
            inputs={"x": Choice((3e38, -3e38, 1e38))},
            note="3e38 + 3e38 is more than a float32 holds: +inf.",
        ),
        case("huge", "huge", n=300, inputs={"x": Uniform(-1.6e38, 1.6e38)}),
        case("tiny", "tiny", n=300, inputs={"x": Uniform(-1e-30, 1e-30)}),
        case(
            "denormal",
            "denormal",
            n=300,
            inputs={"x": Uniform(-1e-39, 1e-39)},
            note="Below 1.2e-38 a float32 is denormal: such sums are kept, not flushed to 0.",
        ),
        case("nan", "nan", n=300, inputs={"x": Sprinkle(NAN)}, note="NaN on either GPU is NaN on both."),
        case(
            "nan_on_gpu_0",
            "nan",
            n=300,
            inputs={"x": Rows(NAN)},
            note="All sums are NaN, also those on GPU 1.",
        ),
        case("nan_at_the_ends", "nan", n=301, inputs={"x": At(NAN, (0, -1))}),
        case("pos_inf", "pos_inf", n=300, inputs={"x": Sprinkle(INF, 0.2)}),
        case("neg_inf", "neg_inf", n=300, inputs={"x": Sprinkle(-INF, 0.2)}),
        case(
            "inf_minus_inf",
            "pos_inf",
            n=300,
            inputs={"x": Choice((INF, -INF, 1.0))},
            note="+inf plus -inf is NaN.",
        ),
        case(
            "cancellation",
            "cancellation",
            n=300,
            inputs={"x": Choice((1e6, -1e6, 1.5))},
            note="Equal terms of opposite sign: exactly 0.",
        ),
        case("large_mean", "cancellation", n=300, inputs={"x": Normal(1000, 0.01)}),
        case("large", "large", n=100_002, note="Even, and no multiple of four."),
        case(
            "special_100003",
            "nan",
            n=100_003,
            inputs={"x": Choice((NAN, INF, -INF, 1e-44, 3e38, -1.5, 2.0))},
            timed=False,
            note="All of them, in many blocks.",
        ),
    ]
