"""Staff's own cases of causal_attention_fp16: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Normal, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", heads=3, seq=211, dim=71),
        case(
            "hidden_scores", "huge", heads=2, seq=301, dim=128, inputs={"q": Normal(0, 3), "k": Normal(0, 3)}
        ),
        case("hidden_positive", "large", heads=1, seq=1201, dim=6, inputs={"v": Uniform(1.0, 1.05)}),
        case("hidden_nan", "nan", heads=2, seq=131, dim=20, inputs={"q": Sprinkle(NAN, 0.001)}),
    ]
