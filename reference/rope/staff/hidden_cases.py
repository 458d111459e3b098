"""Staff's own cases of rope: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", heads=11, seq=67, dim=58),
        case("hidden_block_edge", "block_edge", heads=5, seq=63, dim=510),
        case("hidden_scaled", "range", heads=5, seq=9, dim=60, inputs={"sin": Uniform(-40, 40)}),
        case(
            "hidden_nan_and_inf",
            "nan",
            heads=5,
            seq=19,
            dim=44,
            inputs={"x": Sprinkle(INF, 0.1), "cos": Sprinkle(NAN, 0.1, Uniform(-1, 1))},
        ),
    ]
