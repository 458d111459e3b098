"""The edge cases of stream_compact."""

from grader.challenge.cases import INF, NAN, Case, Choice, Constant, Integers, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000),
        case("empty", "empty", n=0, note="count is 0, and must be written."),
        case("one_element", "one_element", n=1, inputs={"x": Constant(2.5)}),
        case("one_element_dropped", "one_element", n=1, inputs={"x": Constant(-2.5)}),
        case("odd", "odd", n=777),
        case("prime", "prime", n=1009),
        case("aligned", "aligned", n=65536),
        *[
            case(f"n_{n}", "block_edge", n=n)
            for n in (31, 32, 33, 127, 128, 129, 255, 257, 1023, 1024, 1025, 4095, 4096, 4097, 8193)
        ],
        case("zeros", "zeros", n=700, inputs={"x": Choice((0.0, -0.0))}, note="0 is not larger than 0."),
        case("ones", "ones", n=5000, inputs={"x": Constant(1)}, note="Everything is kept."),
        case(
            "none_kept", "range", n=5000, inputs={"x": Uniform(-9, -1)}, note="Nothing is kept: count is 0."
        ),
        case(
            "all_kept", "range", n=9002, inputs={"x": Uniform(1, 9)}, note="out is a copy of x.", timed=True
        ),
        case("few_kept", "range", n=9001, inputs={"x": Sprinkle(7.0, 0.001, Uniform(-9, -1))}),
        case("few_dropped", "range", n=9001, inputs={"x": Sprinkle(-7.0, 0.001, Uniform(1, 9))}),
        case("many_zeros", "ties", n=3000, inputs={"x": Choice((0.0, -0.0, 1.0))}),
        case("ties", "ties", n=3000, inputs={"x": Integers(-2, 3)}, note="Equal elements are all kept."),
        case("huge", "huge", n=700, inputs={"x": Uniform(-3e38, 3e38)}),
        case("tiny", "tiny", n=700, inputs={"x": Uniform(-1e-30, 1e-30)}),
        case(
            "denormal",
            "denormal",
            n=700,
            inputs={"x": Uniform(-1e-39, 1e-39)},
            note="Below 1.2e-38, and yet larger than 0.",
        ),
        case("nan", "nan", n=700, inputs={"x": Sprinkle(NAN, 0.2)}, note="NaN is not larger than 0."),
        case("all_nan", "nan", n=300, inputs={"x": Constant(NAN)}),
        case("pos_inf", "pos_inf", n=700, inputs={"x": Sprinkle(INF, 0.2)}),
        case("neg_inf", "neg_inf", n=700, inputs={"x": Sprinkle(-INF, 0.2)}),
        case("large", "large", n=70_001),
        case(
            "special_300007",
            "nan",
            n=300_007,
            inputs={"x": Choice((NAN, INF, -INF, 0.0, -0.0, 1e-44, -1.5, 2.0))},
            timed=False,
            note="All of them, in many blocks.",
        ),
        case(
            "all_kept_beyond_2_24",
            "range",
            n=33_554_437,
            inputs={"x": Uniform(1, 9)},
            note="A float32 cannot count so far.",
            on="gpu",
        ),
        case(
            "odd_as_timed",
            "nan",
            n=402_653_189,
            inputs={"x": Choice((NAN, INF, -INF, 0.0, -0.0, 1e-44, -1.5, 2.0))},
            on="gpu",
        ),
        case("beyond_2_31", "large", n=2_151_678_979, on="gpu"),
    ]
