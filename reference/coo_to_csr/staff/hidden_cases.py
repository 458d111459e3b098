"""Staff's own cases of coo_to_csr: sizes and rows that the public suite does not name."""

from grader.challenge.cases import Case, Constant, Offsets, case


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", rows=307, nnz=1999),
        case("hidden_block_edge", "block_edge", rows=511, nnz=2047),
        case("hidden_no_entries", "empty", rows=1300, nnz=0),
        case("hidden_both_ends_empty", "range", rows=2001, nnz=500, inputs={"row": Offsets(600, 1400)}),
        case("hidden_one_entry", "one_element", rows=3000, nnz=1, inputs={"row": Constant(2999)}),
        case("hidden_large", "large", rows=20_021, nnz=12_007, inputs={"row": Offsets(40, 19_000)}),
    ]
