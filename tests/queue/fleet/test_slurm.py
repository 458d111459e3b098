from __future__ import annotations

from pathlib import Path

import pytest

from grader.service.platform import Platform
from tests.components import need
from tests.queue.fleet import campaign, slurm


@pytest.mark.matrix
def test_pilots_of_a_slurm_that_preempts_them_lose_no_submission(
    platform: Platform, tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole way: sbatch, squeue and scancel, workers that give back after SIGTERM, and a node that dies."""
    need("slurm")
    folder = tmp_path / "slurm"
    folder.mkdir()
    with slurm.two_nodes(folder) as cluster:
        monkeypatch.setenv("SLURM_CONF", str(cluster.conf))
        wanted = campaign.Campaign(submissions=8, preemptions=2, deaths=1, gated=True)
        found = campaign.run(platform, cluster, tmp_path, redis_url, wanted)
    assert (found.done, found.lost, found.twice, found.charged) == (8, 0, 0, 0)
    assert found.preempted >= 2
    assert found.deaths == 1
    assert found.launched > 2
