"""Staff's own cases of rmsnorm: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Normal, Rows, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", rows=11, cols=1499),
        case("hidden_offset", "range", rows=9, cols=300, inputs={"x": Normal(-40, 2)}),
        case("hidden_eps", "range", rows=5, cols=70, scalars={"eps": 2.0}),
        case("hidden_nan_rows", "nan", rows=9, cols=70, inputs={"x": Rows(NAN, 3)}),
        case("hidden_inf_in_gamma", "pos_inf", rows=9, cols=70, inputs={"gamma": Sprinkle(INF, 0.05)}),
    ]
