"""Staff's own cases of log_softmax: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Normal, Rows, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", rows=11, cols=1499),
        case("hidden_huge", "huge", rows=9, cols=300, inputs={"x": Normal(-900, 200)}),
        case("hidden_nan", "nan", rows=5, cols=2_503, inputs={"x": Sprinkle(NAN, 0.0002)}),
        case("hidden_masked", "neg_inf", rows=9, cols=70, inputs={"x": Rows(-INF, 3, Sprinkle(-INF, 0.5))}),
    ]
