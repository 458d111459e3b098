"""Staff's own cases of spmv_csr: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Integers, Sprinkle, case
from grader.challenge.derived import RowPointers


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", rows=211, cols=307, nnz=1999),
        case("hidden_no_entries", "empty", rows=130, cols=3, nnz=0),
        case(
            "hidden_uneven",
            "large",
            rows=257,
            cols=4000,
            nnz=9001,
            inputs={"row_ptr": RowPointers("nnz", empty=0.8, huge=0.5), "col": Integers(0, 4000)},
        ),
        case("hidden_nan", "nan", rows=90, cols=70, nnz=200, inputs={"val": Sprinkle(NAN, 0.01)}),
    ]
