"""Staff's own cases of attention: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Normal, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", heads=3, seq=211, dim=71),
        case(
            "hidden_scores", "huge", heads=2, seq=131, dim=128, inputs={"q": Normal(0, 5), "k": Normal(1, 2)}
        ),
        case("hidden_tail", "range", heads=2, seq=97, dim=24, inputs={"q": Normal(2, 1), "k": Normal(-2, 1)}),
        case("hidden_nan", "nan", heads=2, seq=131, dim=20, inputs={"q": Sprinkle(NAN, 0.001)}),
    ]
