"""Staff's own cases of dropout: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=16_381, scalars={"p": 0.37, "seed": 3_000_000_019}),
        case("hidden_block_edge", "block_edge", n=8_193, scalars={"p": 0.05, "seed": 7}),
        case("hidden_zero_bits", "ties", n=65, scalars={"p": 2.0**-24, "seed": 2_816_725_947}),
        case(
            "hidden_nan_and_inf",
            "nan",
            n=3_001,
            scalars={"p": 0.8, "seed": 65_537},
            inputs={"x": Sprinkle(NAN, 0.1, Sprinkle(INF, 0.1))},
        ),
    ]
