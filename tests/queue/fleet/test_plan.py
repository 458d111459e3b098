from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import BadRequest
from grader.queue.fleet.plan import Pool, SlurmOptions, read_fleet

POOL = """
[pools.h200]
device = "h200"
max = 4
[pools.h200.slurm]
"""


@pytest.mark.parametrize(
    ("waiting", "seconds", "wanted"),
    [(0, 10.0, 1), (1, 10.0, 1), (31, 10.0, 2), (90, 10.0, 3), (9000, 10.0, 4), (25, None, 3)],
)
def test_pilots_for_what_waits(waiting: int, seconds: float | None, wanted: int) -> None:
    pool = Pool(device="h200", min=1, max=4, target=300.0, slurm=SlurmOptions())
    assert pool.wanted(waiting, seconds) == wanted


def test_times_are_read(tmp_path: Path) -> None:
    path = tmp_path / "fleet.toml"
    path.write_text('interval = "2s"' + POOL.replace("max = 4", 'max = 4\nlifetime = "2h"\nidle = 90'))
    fleet = read_fleet(path)
    pool = fleet.pools["h200"]
    assert (fleet.interval, pool.lifetime, pool.idle, pool.target) == (2.0, 7200.0, 90.0, 300.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "pools: Field required"),
        ("[pools", "not TOML"),
        (POOL.replace("max = 4", "max = 0"), "pools.h200.max: Input should be greater than or equal to 1"),
        (POOL.replace("max = 4", "max = 4\nmin = 5"), "pools.h200: min is 5, more than max, 4"),
        (POOL.replace("max = 4", 'max = 4\nidle = "soon"'), "pools.h200.idle: 'soon' is not a time"),
        (POOL.replace("[pools.h200.slurm]", ""), "give one of slurm, kubernetes and command; there are 0"),
        (POOL.replace("max = 4", "max = 4\ncost_per_day = 3"), "cost_per_day needs cost_per_hour"),
        (
            POOL.replace("max = 4", "max = 4\ncost_per_day = 3\ncost_per_hour = 4"),
            "a pilot's lifetime may cost 3.67, more than cost_per_day: it would never start",
        ),
        (POOL.replace("pools.h200", "pools.Big"), "'Big' is no name of a pool"),
        (POOL + POOL.replace("pools.h200", "pools.second"), "h200 and second both serve h200"),
        (POOL.replace("max", "most"), "pools.h200.most: Extra inputs are not permitted"),
    ],
)
def test_a_wrong_file_names_the_key(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "fleet.toml"
    path.write_text(text)
    with pytest.raises(BadRequest) as error:
        read_fleet(path)
    assert said in error.value.message
    assert str(path) in error.value.message


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"fleet\.toml: No such file"):
        read_fleet(tmp_path / "fleet.toml")
