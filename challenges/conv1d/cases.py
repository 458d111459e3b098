"""The edge cases of conv1d."""

from grader.challenge.cases import INF, NAN, Case, Choice, Constant, Integers, Normal, Sprinkle, Uniform, case

# Numbers of values and weights one off a multiple of a block.
_EDGES = [
    (31, 3),
    (33, 3),
    (127, 4),
    (129, 5),
    (1023, 6),
    (1024, 8),
    (1025, 2),
    (1026, 3),
    (4099, 5),
    (300, 31),
    (300, 32),
    (300, 33),
    (600, 127),
    (600, 129),
    (1500, 255),
    (1500, 257),
]


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=1000, k=5),
        case("no_values", "empty", n=0, k=3, note="The weights fit nowhere: out is empty."),
        case("no_weights", "empty", n=5, k=0, note="Six empty sums: zeros, which must be written."),
        case("nothing", "empty", n=0, k=0, note="No weights fit into no values once: one zero."),
        case("too_short", "empty", n=4, k=9, note="n - k + 1 is -4: out is empty, and nothing is launched."),
        case("one_too_short", "empty", n=8, k=9),
        case("one_element", "one_element", n=1, k=1),
        case("one_result", "one_element", n=301, k=301, note="A single result, a long sum."),
        case("one_weight", "one_element", n=500, k=1),
        case("odd", "odd", n=777, k=9),
        case("prime", "prime", n=1009, k=13),
        *[case(f"n_{n}_k_{k}", "block_edge", n=n, k=k) for n, k in _EDGES],
        case("k_1025", "block_edge", n=3000, k=1025, note="More weights than most blocks have threads."),
        case("zeros", "zeros", n=300, k=7, inputs={"x": Choice((0.0, -0.0))}),
        case("zero_weights", "zeros", n=300, k=7, inputs={"w": Constant(0)}),
        case("ones", "ones", n=300, k=7, inputs={"x": Constant(1), "w": Constant(1)}),
        case("whole_numbers", "range", n=900, k=6, inputs={"x": Integers(-9, 10), "w": Integers(-9, 10)}),
        case(
            "overflow",
            "huge",
            n=300,
            k=7,
            inputs={"x": Uniform(1e25, 2e25), "w": Uniform(1e25, 2e25)},
            note="Every product is more than a float32 holds: +inf.",
        ),
        case("huge", "huge", n=300, k=7, inputs={"x": Uniform(-1e19, 1e19), "w": Uniform(-1e18, 1e18)}),
        case("tiny", "tiny", n=300, k=7, inputs={"x": Normal(0, 1e-15), "w": Normal(0, 1e-15)}),
        case("denormal", "denormal", n=300, k=7, inputs={"x": Uniform(-1e-39, 1e-39)}),
        case("nan", "nan", n=900, k=7, inputs={"x": Sprinkle(NAN, 0.01)}, note="It reaches 7 results each."),
        case(
            "nan_weight", "nan", n=300, k=7, inputs={"w": Sprinkle(NAN, 0.1)}, note="It reaches every result."
        ),
        case("pos_inf", "pos_inf", n=900, k=7, inputs={"x": Sprinkle(INF, 0.01)}),
        case("neg_inf", "neg_inf", n=900, k=6, inputs={"x": Sprinkle(-INF, 0.01)}),
        case(
            "inf_times_zero",
            "pos_inf",
            n=900,
            k=5,
            inputs={"x": Sprinkle(INF, 0.01), "w": Choice((0.0, 1.0))},
            note="0 * inf is NaN.",
        ),
        case(
            "cancellation",
            "cancellation",
            n=900,
            k=64,
            inputs={"x": Normal(1000, 1), "w": Choice((1.0, -1.0))},
            note="Small sums of large terms: errors are measured against the terms.",
        ),
        case("large", "large", n=60_001, k=7),
    ]
