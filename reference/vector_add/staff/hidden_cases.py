"""Staff's own cases of vector_add: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=8191),
        case("hidden_block_edge", "block_edge", n=2049),
        case("hidden_nan_and_inf", "nan", n=515, inputs={"a": Sprinkle(NAN, 0.1), "b": Sprinkle(INF, 0.1)}),
        case("hidden_range", "huge", n=515, inputs={"a": Uniform(-1e30, 1e30), "b": Uniform(-1e30, 1e30)}),
    ]
