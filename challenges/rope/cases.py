"""The edge cases of rope."""

from grader.challenge.cases import INF, NAN, Case, Choice, Constant, Normal, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("basic", "basic", heads=4, seq=16, dim=32),
        case(
            "no_heads",
            "empty",
            heads=0,
            seq=5,
            dim=8,
            note="Nothing to do: a grid of 0 blocks is a launch error in CUDA.",
        ),
        case("no_positions", "empty", heads=3, seq=0, dim=8),
        case("no_dimensions", "empty", heads=3, seq=5, dim=0),
        case("one_pair", "one_element", heads=1, seq=1, dim=2),
        case("one_head", "one_element", heads=1, seq=77, dim=16),
        case("one_position", "one_element", heads=9, seq=1, dim=64),
        case("two_dimensions", "range", heads=5, seq=77, dim=2),
        case("odd", "odd", heads=3, seq=21, dim=10),
        case("prime", "prime", heads=5, seq=31, dim=34, note="Half of 34 is no multiple of two."),
        case("aligned", "aligned", heads=4, seq=128, dim=128),
        *[
            case(f"dim_{dim}", "block_edge", heads=3, seq=15, dim=dim)
            for dim in (12, 30, 32, 62, 64, 66, 254, 256, 258)
        ],
        *[
            case(f"seq_{seq}", "block_edge", heads=2, seq=seq, dim=6)
            for seq in (31, 33, 127, 129, 1023, 1025)
        ],
        *[case(f"heads_{heads}", "block_edge", heads=heads, seq=3, dim=8) for heads in (15, 16, 17, 33)],
        case(
            "angle_0",
            "ones",
            heads=3,
            seq=9,
            dim=26,
            inputs={"cos": Constant(1), "sin": Constant(0)},
            note="Nothing turns: out is x.",
            timed=False,
        ),
        case(
            "quarter_turn",
            "zeros",
            heads=3,
            seq=9,
            dim=26,
            inputs={"cos": Constant(0), "sin": Constant(1)},
            note="The first half is minus the second half of x, and the second half is the first of x.",
            timed=False,
        ),
        case("zeros", "zeros", heads=3, seq=9, dim=26, inputs={"x": Choice((0.0, -0.0))}),
        case(
            "no_rotation",
            "range",
            heads=3,
            seq=9,
            dim=26,
            inputs={"cos": Uniform(2, 5), "sin": Uniform(2, 5)},
            note="Some models scale the tables: cos and sin may be any numbers.",
        ),
        case(
            "huge",
            "huge",
            heads=3,
            seq=9,
            dim=26,
            inputs={"x": Uniform(-1.5e38, 1.5e38)},
        ),
        case("tiny", "tiny", heads=3, seq=9, dim=26, inputs={"x": Uniform(-1e-30, 1e-30)}),
        case(
            "denormal",
            "denormal",
            heads=3,
            seq=9,
            dim=26,
            inputs={"x": Uniform(-1e-38, 1e-38)},
            note="Below 1.2e-38 a float32 is denormal: such results are kept, not flushed to 0.",
        ),
        case(
            "cancellation",
            "cancellation",
            heads=3,
            seq=9,
            dim=26,
            inputs={"x": Normal(1000, 0.01), "cos": Uniform(0.707, 0.7072), "sin": Uniform(0.707, 0.7072)},
            note="Errors are measured against the products, not against what is left of them.",
        ),
        case(
            "nan",
            "nan",
            heads=3,
            seq=29,
            dim=26,
            inputs={"x": Sprinkle(NAN)},
            note="Both elements of its pair are NaN, and no others.",
        ),
        case(
            "nan_in_cos",
            "nan",
            heads=3,
            seq=29,
            dim=26,
            inputs={"cos": Sprinkle(NAN, 0.02, Uniform(-1, 1))},
            note="Its pair is NaN in every head.",
        ),
        case(
            "nan_in_sin", "nan", heads=3, seq=29, dim=26, inputs={"sin": Sprinkle(NAN, 0.02, Uniform(-1, 1))}
        ),
        case("pos_inf", "pos_inf", heads=3, seq=29, dim=26, inputs={"x": Sprinkle(INF, 0.2)}),
        case("neg_inf", "neg_inf", heads=3, seq=29, dim=26, inputs={"x": Sprinkle(-INF, 0.2)}),
        case(
            "inf_times_0",
            "pos_inf",
            heads=3,
            seq=29,
            dim=26,
            inputs={"x": Sprinkle(INF, 0.1), "cos": Constant(1), "sin": Constant(0)},
            note="0 times inf is NaN: a product with 0 may not be left out.",
            timed=False,
        ),
        case("large", "large", heads=7, seq=501, dim=38),
        case("long", "large", heads=1, seq=20_011, dim=6, note="Many positions, in many blocks."),
        case("wide", "large", heads=2, seq=3, dim=9_002, note="A half is longer than a block."),
        case("many_heads", "large", heads=601, seq=3, dim=10),
        case(
            "nan_in_many", "nan", heads=9, seq=503, dim=62, inputs={"x": Sprinkle(NAN, 0.00003)}, timed=False
        ),
        case(
            "odd_as_timed",
            "nan",
            heads=1_031,
            seq=1_021,
            dim=254,
            inputs={"x": Sprinkle(NAN, 0.00001)},
            on="gpu",
        ),
        case("beyond_2_31", "large", heads=8_209, seq=2_053, dim=128, on="gpu"),
    ]
