"""Staff's own cases of segmented_scan: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Choice, Constant, Rows, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=16_381),
        case("hidden_block_edge", "block_edge", n=3073),
        case("hidden_regular", "range", n=7001, inputs={"flags": Rows(1, 509, Constant(0))}),
        case("hidden_flag_values", "range", n=2003, inputs={"flags": Choice((0, 0, 0, 0, 4, 64, 254))}),
        case("hidden_range", "huge", n=3001, inputs={"x": Uniform(-1e30, 1e30)}),
        case(
            "hidden_nan_and_inf",
            "nan",
            n=12_289,
            inputs={
                "x": Sprinkle(NAN, 0.0005, Sprinkle(INF, 0.0005)),
                "flags": Sprinkle(1, 0.002, Constant(0)),
            },
        ),
        case("hidden_large", "large", n=30_011, inputs={"flags": Sprinkle(1, 0.0003, Constant(0))}),
    ]
