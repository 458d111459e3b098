"""Staff's own cases of layernorm_backward: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Normal, Rows, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", rows=11, cols=1499),
        case("hidden_no_rows", "empty", rows=0, cols=1031),
        case("hidden_mean", "cancellation", rows=301, cols=70, inputs={"x": Normal(-3000, 2)}),
        case("hidden_positive", "large", rows=1201, cols=7, inputs={"dy": Uniform(0, 1)}),
        case("hidden_nan", "nan", rows=40, cols=9, inputs={"dy": Rows(NAN, 39, Sprinkle(NAN, 0.001))}),
    ]
