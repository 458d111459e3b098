"""Staff's own cases of grouped_reduce: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Sprinkle, Uniform, case
from grader.challenge.derived import RowPointers


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=4_099, groups=211),
        case("hidden_block_edge", "block_edge", n=2_047, groups=65),
        case("hidden_empty", "range", n=1_201, groups=801, inputs={"offsets": RowPointers("n", empty=0.8)}),
        case("hidden_nan", "nan", n=3_001, groups=130, inputs={"values": Sprinkle(NAN, 0.01)}),
        case("hidden_positive", "range", n=6_007, groups=90, inputs={"values": Uniform(0, 1)}),
        case("hidden_large", "large", n=24_001, groups=333, inputs={"offsets": RowPointers("n", huge=0.8)}),
    ]
