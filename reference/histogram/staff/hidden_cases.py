"""Staff's own cases of histogram: sizes and values that the public suite does not name."""

from grader.challenge.cases import Case, Choice, Integers, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=4099, bins=307),
        case("hidden_outside", "range", n=2047, bins=100, inputs={"x": Integers(-100, 200)}),
        case(
            "hidden_wrap", "range", n=511, bins=300, inputs={"x": Choice((-(2**31), 2**16, 2**16 + 5, 299))}
        ),
    ]
