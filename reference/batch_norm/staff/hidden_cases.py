"""Staff's own cases of batch_norm: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, Case, Normal, Rows, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", batch=11, channels=3, spatial=1_499),
        case("hidden_pixels", "odd", batch=2_051, channels=17, spatial=1),
        case("hidden_eps", "range", batch=5, channels=6, spatial=77, scalars={"eps": 0.125}),
        case(
            "hidden_means",
            "cancellation",
            batch=19,
            channels=2,
            spatial=2_003,
            inputs={"x": Rows(700.0, 3, Normal(701, 1))},
        ),
        case(
            "hidden_inf",
            "pos_inf",
            batch=9,
            channels=21,
            spatial=33,
            inputs={"x": Sprinkle(INF, 0.001)},
        ),
    ]
