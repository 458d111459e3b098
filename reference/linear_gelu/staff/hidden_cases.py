"""Staff's own cases of linear_gelu: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Normal, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", m=73, n=19, k=131),
        case("hidden_k_0", "empty", m=33, n=65, k=0),
        case("hidden_long", "large", m=9, n=24, k=4096),
        case("hidden_tail", "range", m=40, n=33, k=24, inputs={"bias": Uniform(-4, 0)}),
        case("hidden_mean", "cancellation", m=33, n=40, k=300, inputs={"x": Normal(5, 0.5)}),
        case("hidden_nan", "nan", m=33, n=65, k=17, inputs={"bias": Sprinkle(NAN, 0.05)}),
    ]
