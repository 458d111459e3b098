"""Staff's own cases of cross_entropy: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, Case, Integers, Normal, Rows, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", rows=11, cols=1499),
        case("hidden_large_logits", "huge", rows=9, cols=300, inputs={"logits": Normal(-900, 200)}),
        case(
            "hidden_ignored",
            "nan",
            rows=21,
            cols=70,
            inputs={"logits": Sprinkle(NAN, 0.02), "labels": Sprinkle(-100, 0.5, Integers(0, 70))},
        ),
        case(
            "hidden_masked", "neg_inf", rows=9, cols=70, inputs={"logits": Rows(-INF, 3, Sprinkle(-INF, 0.5))}
        ),
    ]
