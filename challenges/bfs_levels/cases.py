"""The edge cases of bfs_levels. Unless a case says otherwise, edges lead anywhere, and vertices have from almost none
up to twice the average.
"""

from grader.challenge.cases import Ascending, At, Case, Choice, Constant, Filling, Integers, case
from grader.challenge.derived import NearDiagonal, RowPointers


def inputs() -> dict[str, Filling]:
    return {"row_ptr": RowPointers("m")}


def _cycle(n: int) -> dict[str, Filling]:
    """From each vertex one edge leads to the next one, and from the last one to vertex 0."""
    return {"row_ptr": Ascending(0, n + 1), "col": At(0, (-1,), Ascending(1, n + 1))}


def cases() -> list[Case]:
    return [
        case("basic", "basic", n=300, m=1200, source=5, depth=20),
        case("no_edges", "empty", n=37, m=0, source=4, depth=3, note="Only the source is reached."),
        case(
            "depth_0",
            "empty",
            n=100,
            m=900,
            source=31,
            depth=0,
            note="No edge is followed: the source has level 0, all others -1.",
        ),
        case("one_vertex", "one_element", n=1, m=0, source=0, depth=2),
        case("one_vertex_with_edges", "one_element", n=1, m=3, source=0, depth=4, note="It leads to itself."),
        case(
            "one_edge", "one_element", n=2, m=1, source=0, depth=5, inputs={"col": Constant(1)}, timed=False
        ),
        case(
            "depth_1",
            "one_element",
            n=200,
            m=1500,
            source=77,
            depth=1,
            note="The source's neighbours, and nobody else.",
        ),
        case("odd", "odd", n=45, m=333, source=11, depth=7),
        case("prime", "prime", n=101, m=1009, source=53, depth=7),
        case("aligned", "aligned", n=1024, m=8192, source=640, depth=6),
        *[
            case(f"n_{n}", "block_edge", n=n, m=4 * n, source=n - 1, depth=6)
            for n in (31, 32, 33, 64, 127, 129, 257, 1023, 1025)
        ],
        *[
            case(
                f"m_{m}",
                "block_edge",
                n=20,
                m=m,
                source=2,
                depth=5,
                note="Vertices have more edges than a warp has lanes.",
            )
            for m in (255, 256, 257, 1025)
        ],
        case("first_source", "range", n=70, m=400, source=0, depth=10),
        case(
            "cycle",
            "range",
            n=90,
            m=90,
            source=0,
            depth=90,
            inputs=_cycle(90),
            timed=False,
            note="A level for each vertex.",
        ),
        case(
            "cycle_from_within",
            "range",
            n=77,
            m=77,
            source=30,
            depth=100,
            inputs=_cycle(77),
            timed=False,
            note="The edge of the last vertex leads to the first one, and the search ends at its source.",
        ),
        case(
            "cycle_cut",
            "range",
            n=500,
            m=500,
            source=490,
            depth=25,
            inputs=_cycle(500),
            timed=False,
            note="Vertices beyond the depth are -1 although there is a way.",
        ),
        case(
            "few_edges",
            "range",
            n=900,
            m=700,
            source=450,
            depth=10,
            note="Many vertices have no edge, and most are not reached.",
        ),
        case(
            "near",
            "range",
            n=500,
            m=2000,
            source=100,
            depth=25,
            inputs={"col": NearDiagonal(40, "m", "n")},
            note="Edges lead a little further: many levels of few vertices.",
            timed=False,
        ),
        case(
            "near_cut",
            "range",
            n=1200,
            m=4800,
            source=1100,
            depth=9,
            inputs={"col": NearDiagonal(60, "m", "n")},
            timed=False,
        ),
        case(
            "to_themselves",
            "ties",
            n=50,
            m=50,
            source=20,
            depth=5,
            inputs={"row_ptr": Ascending(0, 51), "col": Ascending(0, 50)},
            timed=False,
            note="Each vertex has an edge to itself alone: nobody else is reached.",
        ),
        case(
            "same_edges",
            "ties",
            n=300,
            m=2000,
            source=44,
            depth=6,
            inputs={"col": Choice((3, 44, 77, 200))},
            timed=False,
            note="Edges come up many times, and back to the source: its level is 0.",
        ),
        case(
            "to_the_source",
            "ties",
            n=300,
            m=2000,
            source=44,
            depth=6,
            inputs={"col": Constant(44)},
            timed=False,
        ),
        case(
            "one_vertex_has_all",
            "range",
            n=40,
            m=2003,
            source=3,
            depth=5,
            inputs={"row_ptr": RowPointers("m", empty=1)},
            timed=False,
            note="A vertex has all edges. If it is not the source, nobody else is reached.",
        ),
        case(
            "hub",
            "large",
            n=3000,
            m=9000,
            source=17,
            depth=9,
            inputs={"row_ptr": RowPointers("m", huge=0.7)},
            timed=False,
            note="One vertex has most edges: more than a block has threads.",
        ),
        case(
            "few_have_edges",
            "range",
            n=500,
            m=6000,
            source=250,
            depth=8,
            inputs={"row_ptr": RowPointers("m", empty=0.6)},
            note="Most vertices have no edge.",
            timed=False,
        ),
        case(
            "half_unreached",
            "range",
            n=1000,
            m=8000,
            source=600,
            depth=9,
            inputs={"col": Integers(0, 500)},
            timed=False,
            note="No edge leads to the upper half.",
        ),
        case("large", "large", n=5003, m=40_009, source=1234, depth=7),
        case("many_levels", "large", n=3001, m=4501, source=3000, depth=14),
        case("dense", "large", n=211, m=20_011, source=100, depth=4),
        case(
            "odd_as_timed",
            "large",
            n=16_777_259,
            m=536_870_923,
            source=16_777_258,
            depth=8,
            on="gpu",
        ),
        case(
            "many_vertices",
            "large",
            n=268_435_459,
            m=536_870_923,
            source=3,
            depth=40,
            note="Levels need more memory than the second-level cache has, and there are many.",
            on="gpu",
        ),
    ]
