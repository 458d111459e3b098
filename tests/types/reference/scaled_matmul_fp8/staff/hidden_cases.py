"""Other sizes than the public ones."""

from grader.challenge.cases import Case, case


def cases() -> list[Case]:
    return [case("hidden_prime", "prime", m=43, blocks=5, n=19)]
