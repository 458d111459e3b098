"""Staff's own cases of grouped_gemm: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Normal, Sprinkle, Uniform, case
from grader.challenge.derived import RowPointers


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", tokens=73, experts=11, k=131, n=19),
        case("hidden_k_0", "empty", tokens=33, experts=4, k=0, n=65),
        case(
            "hidden_empty",
            "range",
            tokens=140,
            experts=33,
            k=40,
            n=24,
            inputs={"offsets": RowPointers("tokens", empty=0.7)},
        ),
        case(
            "hidden_positive",
            "large",
            tokens=140,
            experts=3,
            k=200,
            n=40,
            inputs={"x": Uniform(0, 1), "w": Uniform(0, 1), "offsets": RowPointers("tokens", huge=0.8)},
        ),
        case("hidden_mean", "cancellation", tokens=40, experts=3, k=300, n=33, inputs={"w": Normal(5, 0.5)}),
        case("hidden_nan", "nan", tokens=65, experts=5, k=17, n=33, inputs={"w": Sprinkle(NAN, 0.003)}),
    ]
