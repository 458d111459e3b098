"""Staff's own cases of all_reduce: sizes and values that the public suite does not name."""

from grader.challenge.cases import INF, NAN, At, Case, Choice, Rows, Sprinkle, Uniform, case


def cases() -> list[Case]:
    return [
        case("hidden_odd", "odd", n=6_143),
        case("hidden_block_edge", "block_edge", n=16_385),
        case("hidden_ones_on_gpu_0", "ones", n=515, inputs={"x": Rows(1)}),
        case("hidden_mixed", "huge", n=1_531, inputs={"x": Uniform(-3e38, 3e38)}),
        case("hidden_ends", "nan", n=4_099, inputs={"x": At(NAN, (-1, 0), Sprinkle(INF, 0.01))}),
        case("hidden_special", "nan", n=30_001, inputs={"x": Choice((NAN, -INF, 1e-42, -2.5, 7.0))}),
    ]
