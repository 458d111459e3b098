"""The edge cases of dot."""

from grader.challenge.cases import INF, NAN, At, Case, Choice, Constant, Normal, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000),
        case("empty", "empty", n=0, note="The sum of nothing is 0, and it must be written."),
        case("one_element", "one_element", n=1),
        case("two", "basic", n=2),
        case("odd", "odd", n=777),
        case("prime", "prime", n=1009),
        case("aligned", "aligned", n=65536),
        *[
            case(f"n_{n}", "block_edge", n=n)
            for n in (31, 32, 33, 127, 129, 255, 257, 1023, 1024, 1025, 2047, 2049, 4097, 8193)
        ],
        case("zeros", "zeros", n=3000, inputs={"a": Constant(0)}),
        case("ones", "ones", n=3000, inputs={"a": Constant(1), "b": Constant(1)}, note="The product is n."),
        case(
            "alike",
            "ties",
            n=5000,
            inputs={"a": Constant(0.1), "b": Constant(0.3)},
            note="What is lost by rounding one value is lost n times: less than float32 shows.",
        ),
        case(
            "overflow",
            "huge",
            n=300,
            inputs={"a": Constant(2e19), "b": Constant(2e19)},
            note="Every product is more than a float32 holds: +inf.",
        ),
        case("huge", "huge", n=300, inputs={"a": Uniform(-1e17, 1e17), "b": Uniform(-1e18, 1e18)}),
        case("tiny", "tiny", n=300, inputs={"a": Uniform(0, 1e-15), "b": Uniform(0, 1e-15)}),
        case(
            "denormal",
            "denormal",
            n=300,
            inputs={"a": Uniform(-1e-39, 1e-39), "b": Uniform(0, 1)},
            note="Results below 1.2e-38 may be flushed to 0.",
        ),
        case("nan_in_a", "nan", n=5000, inputs={"a": Sprinkle(NAN, 0.0001)}),
        case(
            "nan_times_0",
            "nan",
            n=5000,
            inputs={"a": Constant(0), "b": Sprinkle(NAN, 0.0001)},
            note="0 times NaN is NaN: zeros may not be skipped.",
        ),
        case("pos_inf", "pos_inf", n=5000, inputs={"a": Sprinkle(INF, 0.001, Constant(1))}),
        case(
            "inf_times_0",
            "pos_inf",
            n=500,
            inputs={"a": Sprinkle(INF, 0.05, Constant(1)), "b": Constant(0)},
            note="inf times 0 is NaN.",
            # Of so many infinities alone, taking each for the largest number makes an infinite sum, too.
            timed=True,
        ),
        case(
            "neg_inf",
            "neg_inf",
            n=5000,
            inputs={"a": Constant(2), "b": Sprinkle(-INF, 0.001)},
        ),
        case(
            "both_infinities",
            "neg_inf",
            n=500,
            inputs={"a": Sprinkle(INF, 0.05, Sprinkle(-INF, 0.05, Constant(1))), "b": Constant(1)},
            timed=False,
            note="+inf plus -inf is NaN.",
        ),
        case("both_signs", "cancellation", n=4000, inputs={"a": Normal(), "b": Normal()}),
        case(
            "cancellation",
            "cancellation",
            n=3001,
            inputs={"a": Choice((1e6, -1e6, 1.0)), "b": Constant(1)},
            note="Large terms cancel. Errors are measured against the terms, not against what is left.",
        ),
        case("large", "large", n=100_003),
        case(
            "many_blocks",
            "stream_order",
            n=300_001,
            note="Clearing, adding and finishing must not overtake each other.",
        ),
        case(
            "tail_131075",
            "range",
            n=131_075,
            inputs={"a": At(1e3, (-1, -2, -3), Uniform(-1, 1.5)), "b": At(1e3, (-1, -2, -3), Uniform())},
            timed=False,
            note="The last three products are most of the sum.",
        ),
        case("nan_in_tail", "nan", n=262_147, inputs={"b": At(NAN)}, timed=False),
        case(
            "odd_as_timed",
            "range",
            n=268_435_459,
            inputs={"a": At(1e3, (-1, -2, -3), Uniform(-1, 1.5)), "b": At(1e3, (-1, -2, -3), Uniform())},
            on="gpu",
        ),
        case(
            "beyond_2_31",
            "large",
            n=2_151_678_979,
            inputs={
                "a": At(1e3, (-1, -2, -3, -4_194_305), Uniform(-1, 1.5)),
                "b": At(1e3, (-1, -2, -3, -4_194_305), Uniform()),
            },
            on="gpu",
        ),
    ]
