"""Staff's own cases of radix_sort: sizes and values that the public suite does not name."""

from grader.challenge.cases import Case, Choice, Integers, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=3_571),
        case("hidden_block_edge", "block_edge", n=8_193),
        case("hidden_ties", "ties", n=2_777, inputs={"x": Choice((-(2**31), 9, 8, -1, 2**24, 2**31 - 1))}),
        case("hidden_range", "range", n=2_222, inputs={"x": Integers(-(2**16), 2**16)}),
        case("hidden_large", "large", n=15_013),
    ]
