"""Staff's own cases of merge_sorted: sizes and values that the public suite does not name."""

from grader.challenge.cases import Ascending, Case, Constant, Offsets, case

_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=8_191, m=4_093),
        case("hidden_block_edge", "block_edge", n=3_840, m=3_841),
        case("hidden_ties", "ties", n=5_003, m=4_001, inputs={"a": Offsets(-3, 3), "b": Offsets(-2, 9)}),
        case(
            "hidden_extremes",
            "range",
            n=2_500,
            m=2_600,
            inputs={"a": Constant(_INT_MIN), "b": Offsets(_INT_MIN, _INT_MAX)},
        ),
        case(
            "hidden_apart",
            "range",
            n=9_001,
            m=7_001,
            inputs={"a": Ascending(10**9, 2 * 10**9), "b": Ascending(-(10**9), 0)},
        ),
    ]
