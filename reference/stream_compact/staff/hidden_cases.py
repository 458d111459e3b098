"""Staff's own cases of stream_compact: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=16381),
        case("hidden_block_edge", "block_edge", n=2049),
        case("hidden_all_kept", "range", n=12_289, inputs={"x": Uniform(0.5, 2)}),
        case("hidden_nan_and_inf", "nan", n=3001, inputs={"x": Sprinkle(NAN, 0.1, Sprinkle(INF, 0.1))}),
        case("hidden_large", "large", n=40_961),
    ]
