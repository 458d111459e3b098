"""Staff's own cases of run_length: sizes and values that the public suite does not name."""

from grader.challenge.cases import At, Case, Choice, Constant, Integers, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=16_381),
        case("hidden_block_edge", "block_edge", n=2_049),
        case("hidden_pairs", "range", n=12_289, inputs={"x": Integers(5, 7)}),
        case("hidden_ends", "range", n=6_145, inputs={"x": At(2, (0, -1), Constant(8))}),
        case("hidden_lower_halves", "range", n=3_001, inputs={"x": Choice((7, 65_543, -65_529, 8))}),
        case("hidden_large", "large", n=40_961, inputs={"x": Sprinkle(-2, 0.001, Constant(2))}),
    ]
