"""Staff's own cases of bfs_levels: graphs that the public suite does not name."""

from grader.challenge.cases import Ascending, At, Case, Constant, Integers, case
from grader.challenge.derived import NearDiagonal, RowPointers


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", n=457, m=3001, source=389, depth=11),
        case("hidden_no_edges", "empty", n=700, m=0, source=699, depth=2),
        case("hidden_depth_0", "empty", n=333, m=1000, source=0, depth=0),
        case(
            "hidden_cycle",
            "range",
            n=150,
            m=150,
            source=149,
            depth=149,
            inputs={"row_ptr": Ascending(0, 151), "col": At(0, (-1,), Ascending(1, 151))},
        ),
        case(
            "hidden_near",
            "range",
            n=1200,
            m=3600,
            source=1100,
            depth=33,
            inputs={"col": NearDiagonal(70, "m", "n")},
        ),
        case("hidden_to_one", "ties", n=260, m=1000, source=1, depth=3, inputs={"col": Constant(259)}),
        case(
            "hidden_hub",
            "large",
            n=2111,
            m=12_007,
            source=2000,
            depth=6,
            inputs={"row_ptr": RowPointers("m", empty=0.3, huge=0.5), "col": Integers(100, 2111)},
        ),
    ]
