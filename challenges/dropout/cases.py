"""The edge cases of dropout."""

from grader.challenge.cases import INF, NAN, Case, Choice, Constant, Normal, Sprinkle, Uniform, case

# Seeds that give element 5 chosen bits: 0x80000000, whose u is 0.5; 0x7fffffff, which a float32 rounds to 2^31; and
# 0xffffffff, which it rounds to 2^32.
_HALF, _BELOW_HALF, _LARGEST = 1328977707, 2074387504, 1914322047
_ONE_BELOW_1 = 1 - 2.0**-24


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000),
        case("empty", "empty", n=0, note="Nothing to do: a grid of 0 blocks is a launch error in CUDA."),
        case("one_element", "one_element", n=1, scalars={"seed": 3}, note="u is 0.89: it is kept."),
        case("one_element_dropped", "one_element", n=1, scalars={"p": 0.5, "seed": 0}, note="u is 0.35."),
        case("odd", "odd", n=777),
        case("prime", "prime", n=1009, scalars={"p": 0.5}),
        case("aligned", "aligned", n=16384, scalars={"p": 0.25}),
        *[
            case(f"n_{n}", "block_edge", n=n, scalars={"p": 0.3})
            for n in (31, 32, 33, 127, 129, 255, 257, 1023, 1024, 1025, 2047, 2049, 4097)
        ],
        case("p_0", "range", n=515, scalars={"p": 0.0}, note="Everything is kept: out is x."),
        case(
            "p_1",
            "range",
            n=515,
            scalars={"p": 1.0},
            note="Everything is dropped: out is 0, and not 0 times a quotient by 0.",
        ),
        case("p_quarter", "range", n=515, scalars={"p": 0.25}),
        case("p_most", "range", n=5_001, scalars={"p": 0.99}),
        case(
            "p_tiny",
            "range",
            n=515,
            scalars={"p": 1e-8},
            note="1 - p is 1 in float32, and elements with u = 0 alone are dropped.",
        ),
        case(
            "p_below_1",
            "range",
            n=515,
            scalars={"p": _ONE_BELOW_1, "seed": _LARGEST},
            note="Element 5 is kept: its u equals p.",
        ),
        case(
            "u_equals_p",
            "ties",
            n=77,
            scalars={"p": 0.5, "seed": _HALF},
            note="The u of element 5 is exactly p: it is kept.",
        ),
        case(
            "u_just_below_p",
            "ties",
            n=77,
            scalars={"p": 0.5, "seed": _BELOW_HALF},
            note="The bits of element 5 are 0x7fffffff: a float32 rounds them up to 2^31, but u is below 0.5.",
        ),
        case(
            "largest_bits_at_p_1",
            "range",
            n=77,
            scalars={"p": 1.0, "seed": _LARGEST},
            note="The bits of element 5 are 0xffffffff: a float32 rounds them up to 2^32, but u is below 1.",
        ),
        case("seed_0", "range", n=515, scalars={"p": 0.5, "seed": 0}),
        case("seed_1", "range", n=515, scalars={"p": 0.5, "seed": 1}),
        case("seed_65536", "range", n=515, scalars={"p": 0.5, "seed": 65536}),
        case(
            "seed_2_31",
            "range",
            n=515,
            scalars={"p": 0.5, "seed": 2**31},
            note="The seed is unsigned: it does not fit an int.",
        ),
        case("seed_largest", "range", n=515, scalars={"p": 0.5, "seed": 2**32 - 1}),
        case("zeros", "zeros", n=515, inputs={"x": Choice((0.0, -0.0))}),
        case("ones", "ones", n=5_001, scalars={"p": 0.4}, inputs={"x": Constant(1)}),
        case("huge", "huge", n=515, inputs={"x": Uniform(-3e38, 3e38)}),
        case("tiny", "tiny", n=515, inputs={"x": Uniform(-1e-30, 1e-30)}),
        case(
            "denormal",
            "denormal",
            n=515,
            inputs={"x": Uniform(-1e-38, 1e-38)},
            note="Below 1.2e-38 a float32 is denormal: such results are kept, not flushed to 0.",
        ),
        case(
            "overflow",
            "huge",
            n=515,
            scalars={"p": 0.5},
            inputs={"x": Choice((3e38, -3e38, 1.0))},
            note="Twice 3e38 is more than a float32 holds: the result is infinite.",
        ),
        case(
            "nan",
            "nan",
            n=1_001,
            inputs={"x": Sprinkle(NAN, 0.3)},
            note="NaN if it is kept, 0 if it is dropped: a dropped element is not multiplied by 0.",
        ),
        case("nan_dropped", "nan", n=515, scalars={"p": 1.0}, inputs={"x": Sprinkle(NAN, 0.5)}),
        case("pos_inf", "pos_inf", n=1_001, inputs={"x": Sprinkle(INF, 0.3)}, note="0 if it is dropped."),
        case("neg_inf", "neg_inf", n=1_001, inputs={"x": Sprinkle(-INF, 0.3)}),
        case("large", "large", n=100_003, scalars={"p": 0.5}, note="An index of 16 bits begins again."),
        case("large_even", "large", n=70_002, scalars={"seed": 987654321}),
        case(
            "special_in_many",
            "nan",
            n=80_009,
            inputs={"x": Choice((NAN, INF, -INF, 1e-44, -1.5, 2.0))},
            timed=False,
        ),
        case(
            "odd_as_timed",
            "nan",
            n=268_435_467,
            inputs={"x": Sprinkle(NAN, 0.001, Normal())},
            scalars={"p": 0.5, "seed": 2**32 - 5},
            note="A float32 does not hold every index from 2^24 on.",
            on="gpu",
        ),
    ]
