"""Staff's own cases of transformer_block: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Normal, Rows, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", batch=3, seq=71, heads=7, dim=8, hidden=88),
        case("hidden_block_edge", "block_edge", batch=1, seq=49, heads=3, dim=48, hidden=144),
        case("hidden_narrow_head", "odd", batch=2, seq=131, heads=3, dim=8, hidden=8),
        case("hidden_eps", "range", batch=2, seq=19, heads=2, dim=24, hidden=56, scalars={"eps": 0.3}),
        case(
            "hidden_mean",
            "cancellation",
            batch=2,
            seq=33,
            heads=2,
            dim=16,
            hidden=48,
            inputs={"x": Normal(-20, 3)},
        ),
        case(
            "hidden_nan",
            "nan",
            batch=5,
            seq=18,
            heads=2,
            dim=16,
            hidden=32,
            inputs={"x": Rows(NAN, 3, Uniform(-1.0, 2.0))},
        ),
    ]
