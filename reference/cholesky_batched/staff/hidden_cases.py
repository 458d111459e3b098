"""Staff's own cases of cholesky_batched: sizes and values that the public suite does not name."""

from grader.challenge.cases import Case, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", batch=3, n=37),
        case("hidden_53", "odd", batch=2, n=53),
        case("hidden_large", "large", batch=1, n=89),
        case("hidden_many", "large", batch=517, n=10),
    ]
