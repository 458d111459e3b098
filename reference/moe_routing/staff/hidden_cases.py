"""Staff's own cases of moe_routing: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Choice, Integers, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", tokens=223, experts=19, k=7),
        case("hidden_block_edge", "block_edge", tokens=513, experts=63, k=2),
        case(
            "hidden_ties", "ties", tokens=60, experts=201, k=5, inputs={"logits": Choice((-3.0, -4.0, -3.5))}
        ),
        case(
            "hidden_nan",
            "nan",
            tokens=80,
            experts=50,
            k=4,
            inputs={"logits": Sprinkle(-NAN, 0.01, Sprinkle(INF, 0.1))},
        ),
        case("hidden_large", "large", tokens=1_201, experts=11, k=3, inputs={"logits": Integers(-30, 30)}),
    ]
