"""Staff's own cases of argmax_rows: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Choice, Rows, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", rows=11, cols=3001),
        case("hidden_block_edge", "block_edge", rows=3, cols=2049),
        case("hidden_ties", "ties", rows=8, cols=1501, inputs={"x": Choice((-3.0, -4.0, -3.5))}),
        case("hidden_nan", "nan", rows=8, cols=1501, inputs={"x": Sprinkle(-NAN, 0.005, Sprinkle(INF, 0.1))}),
        case("hidden_neg_inf", "neg_inf", rows=9, cols=2600, inputs={"x": Rows(-INF, 3)}),
    ]
