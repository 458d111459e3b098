"""Staff's own cases of group_norm: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Normal, Rows, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", batch=3, channels=22, spatial=149, groups=11),
        case("hidden_fours", "aligned", batch=4, channels=32, spatial=384, groups=32),
        case(
            "hidden_mean",
            "cancellation",
            batch=2,
            channels=10,
            spatial=61,
            groups=2,
            inputs={"x": Normal(7000, 0.5)},
        ),
        case(
            "hidden_offset",
            "cancellation",
            batch=1,
            channels=10,
            spatial=405,
            groups=2,
            inputs={"x": Uniform(300, 301)},
        ),
        case("hidden_eps", "range", batch=3, channels=8, spatial=17, groups=2, scalars={"eps": 2.0}),
        case("hidden_nan", "nan", batch=5, channels=10, spatial=14, groups=5, inputs={"x": Rows(NAN, 3)}),
    ]
