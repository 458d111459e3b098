"""Staff's own cases of monte_carlo: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", rows=19, paths=613, scalars={"seed": 3_000_000_019, "rate": 0.07}),
        case("hidden_block_edge", "block_edge", rows=4, paths=8_191),
        case("hidden_few_paths", "range", rows=400, paths=7, scalars={"seed": 65_537}),
        case("hidden_below_strike", "range", rows=20, paths=500, inputs={"strike": Uniform(140, 160)}),
        case("hidden_nan", "nan", rows=130, paths=21, inputs={"time": Sprinkle(NAN, 0.05, Uniform(0.25, 3))}),
    ]
