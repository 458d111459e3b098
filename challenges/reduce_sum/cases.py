"""The edge cases of reduce_sum."""

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
        case("zeros", "zeros", n=3000, inputs={"x": Choice((0.0, -0.0))}),
        case("ones", "ones", n=3000, inputs={"x": Constant(1)}, note="The sum is n."),
        case(
            "alike",
            "ties",
            n=5000,
            inputs={"x": Constant(0.1)},
            note="What is lost by rounding one value is lost n times: less than float32 shows.",
        ),
        case(
            "overflow",
            "huge",
            n=300,
            inputs={"x": Constant(3e38)},
            note="Two of them are more than a float32 holds: +inf.",
        ),
        case("huge", "huge", n=300, inputs={"x": Uniform(-1e35, 1e35)}),
        case("tiny", "tiny", n=300, inputs={"x": Uniform(0, 1e-30)}),
        case(
            "denormal",
            "denormal",
            n=300,
            inputs={"x": Uniform(-1e-39, 1e-39)},
            note="Results below 1.2e-38 may be flushed to 0.",
        ),
        case("nan", "nan", n=5000, inputs={"x": Sprinkle(NAN, 0.0001)}, note="One NaN, and the sum is NaN."),
        case("pos_inf", "pos_inf", n=5000, inputs={"x": Sprinkle(INF, 0.001)}),
        case("neg_inf", "neg_inf", n=5000, inputs={"x": Sprinkle(-INF, 0.001)}),
        case(
            "inf_minus_inf",
            "pos_inf",
            n=5000,
            inputs={"x": Choice((INF, -INF, 1.0))},
            note="+inf plus -inf is NaN.",
            # Of so many infinities alone, taking each for the largest number makes an infinite sum, too.
            timed=True,
        ),
        case("both_signs", "cancellation", n=4000, inputs={"x": Normal()}),
        case(
            "cancellation",
            "cancellation",
            n=3001,
            inputs={"x": Choice((1e6, -1e6, 1.0))},
            note="Large terms cancel. Errors are measured against the terms, not against what is left.",
        ),
        case("negative", "range", n=3000, inputs={"x": Uniform(-5, -4)}, timed=True),
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
            inputs={"x": At(1e6, (-1, -2, -3), Uniform(-1, 1.5))},
            timed=False,
            note="The last three elements are most of the sum.",
        ),
        case("nan_in_tail", "nan", n=262_147, inputs={"x": At(NAN)}, timed=False),
        case(
            "inf_at_ends",
            "pos_inf",
            n=262_145,
            inputs={"x": At(INF, (0, -1))},
            timed=False,
            note="0 * inf is NaN: an element that stands in for one beyond the end must be left out, not times 0.",
        ),
        case(
            "odd_as_timed",
            "range",
            n=536_870_915,
            inputs={"x": At(1e6, (-1, -2, -3), Uniform(-1, 1.5))},
            on="gpu",
        ),
        case(
            "beyond_2_31",
            "large",
            n=2_151_678_979,
            inputs={"x": At(1e6, (-1, -2, -3, -4_194_305), Uniform(-1, 1.5))},
            on="gpu",
        ),
    ]
