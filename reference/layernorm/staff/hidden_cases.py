"""Staff's own cases of layernorm: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Normal, Rows, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", rows=11, cols=1499),
        case("hidden_mean", "cancellation", rows=9, cols=300, inputs={"x": Normal(7000, 0.5)}),
        case("hidden_offset", "cancellation", rows=5, cols=2050, inputs={"x": Uniform(300, 301)}),
        case("hidden_eps", "range", rows=5, cols=70, scalars={"eps": 2.0}),
        case("hidden_nan_rows", "nan", rows=9, cols=70, inputs={"x": Rows(NAN, 3)}),
    ]
