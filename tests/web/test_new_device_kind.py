"""A device kind that is only a row of the table works from the judge to page and terminal; code names no kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError
from sqlalchemy import update

from grader import device_kinds, errors
from grader.challenge.catalogue import Catalogue
from grader.cli.main import main
from grader.cli.workers import check_device
from grader.device_kinds import DeviceKind, board_of, kind_of, languages_of
from grader.errors import UnknownDevice
from grader.judge.cuda.device import CudaDevice
from grader.judge.device import TimingPlan, make_device
from grader.judge.host_device import EmulatedDevice, HostDevice, emulated_device, host_device
from grader.judge.request import Request
from grader.judge.session import Session
from grader.records import claims
from grader.records.engine import writing
from grader.records.models import SubmissionRow, utcnow
from grader.sandbox.forked_box import ForkedBoxes
from grader.sandbox.gpu import Gpu
from grader.schemas.report import Language, Report, Verdict
from grader.service.accounts.accounts import User
from grader.service.devices import served_devices
from grader.service.platform import Platform, open_platform
from tests.cli.stub import serving
from tests.judge.kernels import RIGHT
from tests.web import builders
from tests.web.conftest import Visit

CATALOGUE = Path(__file__).parent.parent / "catalogue"
BOARD = "emu-sm90"


class SimulatedDevice(HostDevice):
    plan = TimingPlan(rounds=5, most_rounds=5, control_rounds=3, warm_up=1)

    def __init__(self, name: str, index: int) -> None:
        self.name = name


SIMULATED = DeviceKind(
    name="simulated",
    title="a simulated GPU",
    boards=r"emu-[a-z0-9]+",
    only_board="",
    on="cpu",
    resolution=0.05,
    caution="come from a simulator and say little of a GPU",
    ceilings=False,
    architecture="",
    back_end=f"{__name__}:SimulatedDevice",
    gpus=None,
)


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> DeviceKind:
    monkeypatch.setitem(device_kinds._table, SIMULATED.name, SIMULATED)
    return SIMULATED


@pytest.fixture
def platform(tmp_path: Path, database: str, emulated: DeviceKind) -> Iterator[Platform]:
    opened = open_platform(builders.make_settings(tmp_path, devices=f"{BOARD},cpu"))
    yield opened
    opened.close()


@pytest.fixture
def report(emulated: DeviceKind, forked_boxes: ForkedBoxes) -> Report:
    challenge = Catalogue(CATALOGUE).load("twice")
    request = Request(challenge, Language.TRITON, RIGHT, BOARD, b"key", challenge.cases)
    device = make_device(BOARD)
    assert type(device).__name__ == "SimulatedDevice"
    return Session(request, device, forked_boxes, lambda _: None, interrupt=lambda: None).run().report


def test_a_new_device_kind_works_from_judge_to_page(
    report: Report,
    platform: Platform,
    ada: User,
    visit: Visit,
    call: Visit,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (report.verdict, report.device, report.representative) == (Verdict.ACCEPTED, BOARD, False)
    assert [workload.ranked for workload in report.workloads] == [True], "there are no ceilings to rank by"

    assert served_devices(platform) == [BOARD, "cpu"]
    assert languages_of(BOARD) == [Language.TRITON]
    sent = {"challenge": builders.SLUG, "source": builders.SOURCE, "filename": "a.py", "device": BOARD}
    answer = call(ada).post("/api/v1/submissions", json=sent)
    assert answer.status_code == 201, answer.text
    with writing(platform.sessions) as session:
        held = claims.claim(
            session, claims.ClaimRequest(BOARD, languages_of(BOARD), "w", utcnow(), 600.0)
        ).held
    assert held is not None
    timed = builders.accepted(device=BOARD, representative=False)
    builders.finish(platform, held, timed)

    board = call(ada).get(f"/api/v1/leaderboards/{builders.SLUG}?device={BOARD}").json
    assert board is not None
    assert (board["device"], board["representative"], len(board["entries"])) == (BOARD, False, 1)
    told = f"times on {BOARD} come from a simulator and say little of a GPU."
    for path in (f"/leaderboards/{builders.SLUG}?device={BOARD}", f"/submissions/{held.public_id}"):
        assert f"Not representative: {told}" in visit(ada).get(path).text

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with serving() as server:
        monkeypatch.setenv("GRADER_SERVER", server.url)
        server.answer(f"GET /leaderboards/{builders.SLUG}", board)
        assert main(["leaderboard", builders.SLUG, "--device", BOARD]) == 0
    assert "they come from a simulator and say little of a GPU." in capsys.readouterr().err
    check_device(BOARD)


def test_each_device_kind_has_a_back_end() -> None:
    ends = [device_kinds.resolve_back_end(kind) for kind in device_kinds.DEVICE_KINDS.values()]
    assert ends == [host_device, emulated_device, CudaDevice]
    assert device_kinds.fixed_architectures() == {
        "cpu": HostDevice.architecture,
        "emulated": EmulatedDevice.architecture,
    }
    with pytest.raises(ValueError, match="module:name"):
        DeviceKind(**{**vars(SIMULATED), "back_end": "nothing"})


NVIDIA = (
    "h200 h100-80gb-hbm3 a100-sxm4-40gb t4 rtx-4090 gtx-1080-ti titan-rtx gb200 gh200-480gb l40s rtx-a6000 "
    "p100-pcie-16gb rtx-pro-6000-blackwell-server-edition v100-sxm2-16gb k80 gpu mx150 orin grid-t4-4q graphics-device"
)


@pytest.mark.parametrize("name", NVIDIA.split())
def test_nvidia_model_names_give_board_names(name: str) -> None:
    assert kind_of(name) is device_kinds.NVIDIA_GPU
    with pytest.raises(errors.BadRequest, match="needs its GPU"):
        check_device(name)


@pytest.mark.parametrize(
    ("model", "board"), [("NVIDIA H200", "h200"), ("Tesla T4", "t4"), ("NVIDIA Zeta 9", "nvidia-zeta-9")]
)
def test_a_found_gpu_has_a_board_of_its_kind(model: str, board: str) -> None:
    assert board_of(Gpu(0, "GPU-1", (), model)) == board
    assert kind_of(board) is device_kinds.NVIDIA_GPU


@pytest.mark.parametrize("name", ["mi300x", "abacus", "gfx942", "max-1550", "CPU", "cpu2", "emu-sm90", ""])
def test_an_unknown_device_name_is_an_error(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = (
        "Devices are the host's processor (cpu), an emulated GPU (emulated), an NVIDIA GPU (by its model)."
    )
    for refuse in (kind_of, make_device, check_device):
        with pytest.raises(UnknownDevice, match=f"There is no device '{name}'") as caught:
            refuse(name)
        assert caught.value.hint == known
    if name:
        for setting in ("device", "devices"):
            with pytest.raises(ValidationError, match="there is no device"):
                builders.make_settings(tmp_path, **{setting: name})
        assert main(["worker", "--device", name]) == errors.EXIT_USAGE
        assert "there is no device" in capsys.readouterr().err


def test_old_records_of_unknown_devices_can_be_read(platform: Platform, ada: User, visit: Visit) -> None:
    timed = builders.accepted(device="abacus", representative=False)
    view = builders.judged(platform, ada, timed, device="cpu")
    with writing(platform.sessions) as session:
        session.execute(update(SubmissionRow).values(device="abacus"))
    page = visit(ada).get(f"/submissions/{view.id}").text
    assert "times on abacus say nothing of a GPU." in page
    for path in ("/submissions", "/progress", "/users/ada", "/", f"/challenges/{builders.SLUG}"):
        assert visit(ada).get(path).status_code == 200, path
