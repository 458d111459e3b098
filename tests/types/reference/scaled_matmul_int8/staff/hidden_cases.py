"""Other sizes than the public ones."""

from grader.challenge.cases import Case, case


def cases() -> list[Case]:
    return [case("hidden_prime", "prime", m=43, k=83, n=19)]
