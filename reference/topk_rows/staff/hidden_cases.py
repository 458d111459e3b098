"""Staff's own cases of topk_rows: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Choice, Rows, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", rows=5, cols=1499, k=29),
        case("hidden_block_edge", "block_edge", rows=3, cols=2049, k=49),
        case("hidden_ties", "ties", rows=4, cols=1501, k=47, inputs={"x": Choice((-3.0, -4.0, -3.5))}),
        case(
            "hidden_nan",
            "nan",
            rows=4,
            cols=801,
            k=19,
            inputs={"x": Sprinkle(-NAN, 0.01, Sprinkle(INF, 0.1))},
        ),
        case("hidden_neg_inf", "neg_inf", rows=5, cols=600, k=37, inputs={"x": Rows(-INF, 3)}),
    ]
