"""Staff's own cases of sparse_2_4: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Choice, Sprinkle, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", m=137, n=56, words=7),
        case("hidden_block_edge", "block_edge", m=49, n=144, words=3),
        # Groups that keep 0 and 3, or 1 and 2.
        case(
            "hidden_places",
            "range",
            m=35,
            n=24,
            words=3,
            inputs={"places": Choice((204.0, 153.0, 201.0, 156.0))},
            timed=False,
        ),
        case("hidden_nan", "nan", m=70, n=16, words=5, inputs={"values": Sprinkle(NAN, 0.001)}),
    ]
