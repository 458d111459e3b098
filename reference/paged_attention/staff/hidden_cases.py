"""Staff's own cases of paged_attention: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Choice, Integers, Normal, Sprinkle, case


def cases() -> list[Case]:
    return [
        case(
            "hidden_prime",
            "prime",
            sequences=7,
            q_heads=33,
            kv_heads=11,
            pages=67,
            page_size=19,
            max_pages=5,
            dim=88,
            inputs={"lengths": Integers(0, 96)},
        ),
        case(
            "hidden_scores",
            "huge",
            sequences=2,
            q_heads=12,
            kv_heads=2,
            pages=40,
            page_size=12,
            max_pages=20,
            dim=128,
            inputs={"q": Normal(0, 2), "k_pages": Normal(0, 2), "lengths": Choice((1, 200, 240))},
        ),
        case(
            "hidden_nan",
            "nan",
            sequences=4,
            q_heads=6,
            kv_heads=2,
            pages=29,
            page_size=20,
            max_pages=6,
            dim=24,
            inputs={"q": Sprinkle(NAN, 0.004), "lengths": Integers(1, 121)},
        ),
    ]
