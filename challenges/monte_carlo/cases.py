"""The edge cases of monte_carlo."""

from grader.challenge.cases import INF, NAN, Case, Choice, Constant, Sprinkle, Uniform, case

# Seeds for 3 rows of 77 paths. In row 2, path 16 is the first of a pair with the smallest u there is, 2^-24, and pays.
# In row 0, paths 34 and 35 have a u of 1: their normal numbers are 0.
_SMALLEST_U, _LARGEST_U = 369407, 96227
# The usual values, for recipes that replace a few of them.
_PRICES, _VOLATILITIES, _TIMES = Uniform(50, 150), Uniform(10, 60), Uniform(0.25, 3)


def cases() -> list[Case]:
    return [
        case("basic", "basic", rows=12, paths=1000),
        case("no_rows", "empty", rows=0, paths=100, note="A grid of 0 blocks is a launch error in CUDA."),
        case("no_paths", "empty", rows=5, paths=0, note="The mean of nothing is 0 / 0: NaN."),
        case("one_element", "one_element", rows=1, paths=1),
        case("one_path", "one_element", rows=301, paths=1),
        case("one_row", "one_element", rows=1, paths=3001),
        case("odd", "odd", rows=7, paths=777),
        case("prime", "prime", rows=13, paths=1009),
        case("aligned", "aligned", rows=128, paths=256),
        case("two_paths", "range", rows=77, paths=2, note="Two of the four numbers of a counter are used."),
        case(
            "three_paths", "range", rows=77, paths=3, note="Path 2 has the first number of the second pair."
        ),
        case("five_paths", "range", rows=77, paths=5, note="Path 4 has the first number of counter 1."),
        *[case(f"paths_{paths}", "block_edge", rows=5, paths=paths) for paths in (15, 129, 1023, 1025, 4097)],
        *[case(f"rows_{rows}", "block_edge", rows=rows, paths=9) for rows in (31, 33, 129)],
        case(
            "smallest_u",
            "range",
            rows=3,
            paths=77,
            scalars={"seed": _SMALLEST_U},
            note="The bits of a u are 0, so u is 2^-24: a u of 0 would have the logarithm -inf.",
        ),
        case(
            "largest_u",
            "range",
            rows=3,
            paths=77,
            scalars={"seed": _LARGEST_U},
            inputs={"strike": Constant(0)},
            note="A u is 1, so two normal numbers are 0. Their root is that of 0.",
        ),
        case("seed_0", "range", rows=5, paths=300, scalars={"seed": 0}),
        case(
            "seed_largest",
            "range",
            rows=5,
            paths=300,
            scalars={"seed": 2**32 - 1, "rate": 0.05},
            note="The seed is unsigned, and so is the key that grows from it.",
        ),
        case("rate_negative", "range", rows=5, paths=300, scalars={"rate": -0.02}),
        case(
            "volatile",
            "range",
            rows=9,
            paths=500,
            inputs={"volatility": Uniform(90, 120), "time": Uniform(1, 3)},
            note="A few paths decide the mean.",
        ),
        case(
            "volatility_0",
            "zeros",
            rows=9,
            paths=50,
            inputs={"volatility": Constant(0)},
            note="All paths are the same.",
        ),
        case(
            "time_0",
            "zeros",
            rows=40,
            paths=50,
            inputs={"time": Choice((0.0, 1.0))},
            note="The price is max(spot - strike, 0).",
        ),
        case("spot_0", "zeros", rows=40, paths=50, inputs={"spot": Choice((0.0, 100.0))}),
        case("strike_0", "zeros", rows=40, paths=50, inputs={"strike": Choice((0.0, 100.0))}),
        case(
            "huge",
            "huge",
            rows=9,
            paths=200,
            inputs={"spot": Uniform(5e28, 1.5e29), "strike": Uniform(5e28, 1.5e29)},
        ),
        case(
            "tiny",
            "tiny",
            rows=9,
            paths=200,
            inputs={"spot": Uniform(5e-31, 1.5e-30), "strike": Uniform(5e-31, 1.5e-30)},
        ),
        case(
            "denormal",
            "denormal",
            rows=9,
            paths=200,
            inputs={"spot": Uniform(5e-40, 1.5e-39), "strike": Uniform(5e-40, 1.5e-39)},
            note="Below 1.2e-38 a float32 is denormal: such prices are kept, not flushed to 0.",
        ),
        case("nan", "nan", rows=77, paths=33, inputs={"spot": Sprinkle(NAN, 0.1, _PRICES)}),
        case(
            "nan_strike",
            "nan",
            rows=77,
            paths=33,
            inputs={"strike": Sprinkle(NAN, 0.1, _PRICES)},
            note="max(NaN, 0) is NaN here, and fmaxf(NaN, 0) is 0.",
        ),
        case(
            "nan_volatility",
            "nan",
            rows=77,
            paths=33,
            inputs={"volatility": Sprinkle(NAN, 0.1, _VOLATILITIES)},
        ),
        case(
            "time_negative",
            "range",
            rows=77,
            paths=33,
            inputs={"time": Sprinkle(-1, 0.1, _TIMES)},
            note="The root of a negative time is NaN.",
        ),
        case("pos_inf", "pos_inf", rows=77, paths=33, inputs={"spot": Sprinkle(INF, 0.1, _PRICES)}),
        case("inf_strike", "pos_inf", rows=77, paths=33, inputs={"strike": Sprinkle(INF, 0.1, _PRICES)}),
        case("neg_inf", "neg_inf", rows=77, paths=33, inputs={"strike": Sprinkle(-INF, 0.1, _PRICES)}),
        case("many_paths", "odd", rows=3, paths=40_003),
        case("many_rows", "large", rows=5_003, paths=6),
        case(
            "odd_as_timed",
            "nan",
            rows=67,
            paths=9_999_991,
            inputs={"spot": Sprinkle(NAN, 0.05, _PRICES)},
            on="gpu",
        ),
        case("beyond_2_31", "odd", rows=131, paths=16_777_213, on="gpu"),
    ]
