"""The edge cases of matmul."""

from grader.challenge.cases import INF, NAN, At, Case, Choice, Constant, Normal, Sprinkle, Uniform, case

# Sizes one off a multiple of a block, on one dimension at a time and on all at once.
_EDGES = [
    (31, 32, 32),
    (32, 33, 32),
    (32, 32, 31),
    (33, 33, 33),
    (63, 65, 64),
    (127, 128, 129),
    (128, 1, 128),
]


def cases() -> list[Case]:
    return [
        case("basic", "basic", m=64, n=48, k=80),
        case("k_0", "empty", m=5, n=7, k=0, note="An empty sum is 0: out must still be written."),
        case(
            "m_0", "empty", m=0, n=7, k=5, note="out is empty: a grid of 0 blocks is a launch error in CUDA."
        ),
        case("n_0", "empty", m=5, n=0, k=7),
        case("all_0", "empty", m=0, n=0, k=0),
        case("one_element", "one_element", m=1, n=1, k=1),
        case("row_times_column", "one_element", m=1, n=1, k=301, note="A single element, a long sum."),
        case("column_times_row", "odd", m=65, n=47, k=1),
        case("odd", "odd", m=15, n=77, k=33),
        case("prime", "prime", m=53, n=101, k=67),
        case("aligned", "aligned", m=128, n=256, k=128),
        *[case(f"edge_{m}_{n}_{k}", "block_edge", m=m, n=n, k=k) for m, n, k in _EDGES],
        case("k_1023", "block_edge", m=2, n=3, k=1023),
        case("k_1025", "block_edge", m=3, n=2, k=1025),
        case("zeros", "zeros", m=20, n=30, k=40, inputs={"a": Constant(0)}),
        case("ones", "ones", m=20, n=30, k=40, inputs={"a": Constant(1), "b": Constant(1)}, timed=True),
        case(
            "overflow",
            "huge",
            m=10,
            n=12,
            k=9,
            inputs={"a": Uniform(1e25, 2e25), "b": Uniform(1e25, 2e25)},
            note="Every product is more than a float32 holds: +inf.",
        ),
        case(
            "huge",
            "huge",
            m=20,
            n=30,
            k=16,
            inputs={"a": Uniform(-1e19, 1e19), "b": Uniform(-1e18, 1e18)},
            note="Close to the largest float32, and finite.",
        ),
        case("tiny", "tiny", m=20, n=30, k=16, inputs={"a": Normal(0, 1e-15), "b": Normal(0, 1e-15)}),
        case(
            "denormal",
            "denormal",
            m=20,
            n=30,
            k=16,
            inputs={"a": Uniform(-1e-39, 1e-39), "b": Normal(0, 1e6)},
        ),
        case("nan", "nan", m=40, n=30, k=35, inputs={"a": Sprinkle(NAN, 0.01)}),
        case("nan_times_zero", "nan", m=40, n=30, k=35, inputs={"a": Constant(0), "b": Sprinkle(NAN, 0.01)}),
        case("pos_inf", "pos_inf", m=40, n=30, k=35, inputs={"a": Sprinkle(INF, 0.01, Uniform(1, 2))}),
        case(
            "inf_times_zero",
            "pos_inf",
            m=10,
            n=12,
            k=9,
            inputs={"a": Sprinkle(INF, 0.05), "b": Choice((0.0, 1.0))},
            note="inf times 0 is NaN: skipping zeros is not allowed.",
        ),
        case("neg_inf", "neg_inf", m=40, n=30, k=35, inputs={"b": Sprinkle(-INF, 0.01, Uniform(1, 2))}),
        case(
            "cancellation",
            "cancellation",
            m=20,
            n=30,
            k=257,
            inputs={"a": Choice((1e6, -1e6, 1.0)), "b": Constant(1)},
            note="Large terms cancel; what is left is small. Errors are measured against the terms.",
        ),
        case("large_mean", "cancellation", m=20, n=30, k=200, inputs={"a": Normal(1000, 1)}),
        case("large", "large", m=200, n=150, k=302),
        case(
            "nan_with_long_k", "nan", m=33, n=40, k=2_100, inputs={"a": Sprinkle(NAN, 0.00005)}, timed=False
        ),
        case(
            "inf_with_long_k",
            "pos_inf",
            m=33,
            n=40,
            k=2_100,
            inputs={"a": At(INF, (0, -1), Uniform(1, 2)), "b": At(INF, (-1,))},
            timed=False,
            note="0 * inf is NaN: what lies beyond k is 0 on both sides.",
        ),
        case(
            "odd_as_timed", "nan", m=4_097, n=4_099, k=4_095, inputs={"a": Sprinkle(NAN, 0.0000001)}, on="gpu"
        ),
    ]
