"""Staff's own cases of conv1d: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=4099, k=17),
        case("hidden_block_edge", "block_edge", n=2049, k=65),
        case("hidden_too_short", "empty", n=40, k=129),
        case("hidden_huge", "huge", n=515, k=11, inputs={"x": Uniform(-1e30, 1e30)}),
        case(
            "hidden_nan_and_inf",
            "nan",
            n=2051,
            k=10,
            inputs={"x": Sprinkle(NAN, 0.003, Sprinkle(INF, 0.003))},
        ),
    ]
