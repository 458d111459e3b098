"""Runs a suite's cases behind the gate, in a fresh box after a fault."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader import limits
from grader.challenge.cases import Case, Category
from grader.challenge.loader import Challenge
from grader.challenge.numbers import shown
from grader.device_kinds import kind_of
from grader.errors import ChallengeInvalid, JudgeFailure
from grader.judge import faults
from grader.judge.arena import Arena, Inputs, Poison
from grader.judge.channel import ChannelError
from grader.judge.compare import (
    PADDING,
    REFUSED,
    compare,
    compare_in_pieces,
    forbidden_write,
    other_count,
    wrong_result,
)
from grader.judge.constructs import Watched
from grader.judge.device import CaseDevice
from grader.judge.explaining import Absent, Mistakes, Wrong, error_map, read_of, with_writers
from grader.judge.large import LargeInputs, LargeQuestion
from grader.judge.launch import LoadFailed
from grader.judge.messages import Reason, Stepped, Unfreed
from grader.judge.oracle import Question, ask, draw_for, scalar_values
from grader.judge.own_run import KeptResults, Printed, Unanswered, of_threads
from grader.judge.phases import phase
from grader.judge.runner_client import Answer, RunnerClient
from grader.judge.sampled import examine, of_lost_box, values_are_compared
from grader.judge.sampled_arena import LargeArena
from grader.judge.worst import place_of
from grader.logs import get_logger
from grader.sandbox.emulator.stepping.recorder import VERSION as STEP_VERSION
from grader.schemas.error_map import ErrorMap
from grader.schemas.own_case import StepChoice
from grader.schemas.report import CaseReport, CaseVerdict, Checked, Mismatch
from grader.schemas.step import StepBundle

log = get_logger(__name__)

_TELLING_KINDS = ("late", "not_cleared", "input_changed")
# A recorded call copies memory before each launch.
_RECORDING_TAKES = 4

if TYPE_CHECKING:
    import torch


@dataclass
class Suite:
    challenge: Challenge
    cases: Sequence[Case]
    seed_of: Callable[[Case], int]
    #: Makes a box with the submission loaded. Raises LoadFailed.
    start: Callable[[], RunnerClient]
    on_case: Callable[[int, int, str], None]
    device: CaseDevice
    #: The first call at new sizes compiles.
    warm_up: bool = False
    fresh_boxes: int = limits.FRESH_BOXES
    answer: Callable[[Case, int], Question] | None = None
    stop_at_failure: bool = False
    #: The sizes for ``solve``, if not the case's.
    told_sizes: Callable[[Mapping[str, int]], Mapping[str, int]] | None = None
    mistakes: Mistakes | None = None
    kept: KeptResults | None = None
    reports: list[CaseReport] = field(default_factory=list)
    own_seconds: list[float] = field(default_factory=list)
    unfreed: Unfreed | None = None
    remarks: tuple[str, ...] = ()
    #: Record the block that goes wrong in the first faulty public case (emulated GPU).
    records: bool = False
    #: Record this block instead, even in a right case.
    step: StepChoice | None = None
    watched: Watched | None = None
    #: A case was right only with an open gate.
    needs_open_gate: bool = False
    #: Cases after this one do not run.
    endless: str = ""
    _fresh: int = 0
    _maps: int = 0
    #: The right results of this box's last public case.
    _before: Mapping[str, torch.Tensor] = field(default_factory=dict)
    #: What this call left unwritten, and the thread that would write it.
    _absent: Absent | None = None
    _ended: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not any(case.verdict.holds_back for case in self.reports)

    def run(self, client: RunnerClient | None, cases: Sequence[Case] | None = None) -> RunnerClient | None:
        """Begins with ``client`` or a fresh box. Returns the box if it is still usable."""
        current = client
        for case in self.cases if cases is None else cases:
            if self.stop_at_failure and not self.passed:
                break
            self.on_case(len(self.reports), len(self.cases), case.name)
            if self.endless:
                self._record(case, None, faults.not_run_behind(self.endless), None, Printed(), None)
                continue
            plan = self.device.memory_plan if case.on else None
            if current is not None and plan is not None and not plan.has_room(self.challenge, case):
                # Memory that a submission keeps must not decide if a case runs. The new box does not count as fresh.
                current.close()
                current, self._fresh = None, self._fresh - 1
            if current is None:
                if self._fresh >= self.fresh_boxes:
                    self._record(case, None, faults.not_run(self._fresh, self._ended), None, Printed(), None)
                    continue
                self._fresh += 1
                self._before = {}
                try:
                    current = self.start()
                except LoadFailed as failed:
                    finding = faults.CaseFault(
                        CaseVerdict.RUNTIME_ERROR,
                        f"It could not be loaded again: {failed.detail}",
                        failed.hint,
                    )
                    self._ended.append(case.name)
                    self._record(case, None, finding, None, Printed(), None)
                    continue
            samples = case.on is not None and kind_of(self.device.name).samples_large
            if samples and not self._judge_sampled(current, case):
                current, self._fresh = None, self._fresh - 1
            elif not samples and not self._judge(current, case):
                self._ended.append(case.name)
                current = None
        self.on_case(len(self.reports), len(self.cases), "")
        return current

    def _judge(self, client: RunnerClient, case: Case) -> bool:
        """True if the box is still usable."""
        began = time.perf_counter()
        client.needs_open_gate = self.needs_open_gate
        large, seed = case.on is not None, self.seed_of(case)
        question = None if large else self._ask(case, seed)
        scalars = scalar_values(self.challenge.manifest, case)
        sizes = self.told_sizes(case.sizes) if self.told_sizes is not None else case.sizes
        with phase("arena", enqueues=True):
            memories = self.device.passing_memories if large else self.device.memories
            arena = Arena(self.challenge.manifest, case.sizes, scalars, memories, sizes, case.without)
        seconds = self._seconds()
        running: float | None = None
        early, said = b"", None
        step: StepBundle | None = None
        reason: Reason | None = None
        self._take_absent()
        try:
            arena.poison = self._poison(case)
            client.bind(arena)
            answer = self._warm_up(client, arena, case, seed) if self.warm_up else None
            # There may be no room for the inputs of both calls.
            question = question or self._ask(case, seed)
            if large:
                self._make_room()
            if answer is None or answer.failure is None:
                early = self._printed(client) if answer is not None else b""
                with phase("call"):
                    answer = client.call(arena, question.inputs, seconds, watch=self._watches(case))
            running = answer.seconds
            self._note(case, answer)
            with phase("compare"):
                finding, mismatch = self._examine(client, arena, question, case, answer)
            if finding is not None and answer.may_have_waited and not self.needs_open_gate:
                self._printed(client)  # show only output of the call that counts
                with phase("call"):
                    answer = client.open_call(arena, question.inputs, seconds, watch=self._watches(case))
                running = answer.seconds
                with phase("compare"):
                    finding, mismatch = self._examine(client, arena, question, case, answer)
                # Once: a kernel that is sometimes wrong must not get a second try in every case.
                self.needs_open_gate = client.needs_open_gate = finding is None
            if self.watched is not None and finding is None:
                self.watched.note(case.name, answer.constructs)
            alive = not client.lost and (answer.failure is None or not answer.failure.sticky)
            if answer.failure is not None and faults.is_endless(answer.failure):
                self.endless = case.name
            absent = self._take_absent() if finding is not None else None
            if alive and self._is_recorded(case, answer, absent) and isinstance(question, Question):
                said = self._printed(client)
                told, alive = self._recorded(client, arena, question.inputs, seconds, absent)
                reason = told.reason if told is not None else None
                if told is not None and (told.data or told.why):
                    step = StepBundle(version=STEP_VERSION, **told.model_dump(exclude={"reason"}))
            if absent is not None and finding is not None and self.mistakes is not None:
                why = absent.sentence(reason, self.mistakes.source)
                finding = replace(finding, detail=f"{finding.detail} {why}")
        except ChannelError as error:
            finding = faults.of_broken_channel(client, error, "solve ran", seconds)
            mismatch, alive = None, False
            if finding.verdict is CaseVerdict.TIME_LIMIT:
                self.endless = case.name
        finally:
            with phase("arena"):
                arena.close()
        if large:
            if alive:
                client.unbind()
            question = None
            self._make_room()
        self._before = question.outputs if isinstance(question, Question) and not case.hidden else {}
        printed = self._said(client, early, said)
        if not alive:
            client.close()
        self._record(case, seed, finding, mismatch, printed, running, step=step)
        if running is not None:
            self.own_seconds.append(time.perf_counter() - began - running)
        return alive

    def _watches(self, case: Case) -> bool:
        return self.watched is not None and self.device.modelled and not case.hidden

    def _take_absent(self) -> Absent | None:
        found, self._absent = self._absent, None
        return found

    def _is_recorded(self, case: Case, answer: Answer, absent: Absent | None) -> bool:
        # A bundle shows the case's data, so hidden cases have none.
        found = answer.failure is not None and answer.failure.kind == "checker"
        found |= absent is not None and absent.would.exists
        found = found or (self.step is not None and answer.failure is None)
        return self.records and found and not case.hidden and case.on is None

    def _recorded(
        self, client: RunnerClient, arena: Arena, inputs: Inputs, seconds: float, absent: Absent | None
    ) -> tuple[Stepped | None, bool]:
        """Repeat the call for the block that went wrong, or that would write ``absent``. Also True if the box is
        still usable."""
        self.records = False
        try:
            with phase("record"):
                wanted = absent.wanted if absent is not None and self.step is None else None
                answer = client.recorded_call(arena, inputs, _RECORDING_TAKES * seconds, self.step, wanted)
            self._printed(client)
        except (ChannelError, JudgeFailure) as error:
            log.warning("not_recorded", why=str(error))
            self._fresh -= 1  # the submission did not end the box
            return None, False
        return answer.step, True

    def _make_room(self) -> None:
        if self.device.memory_plan is not None:
            self.device.memory_plan.make_room()

    def _judge_sampled(self, client: RunnerClient, case: Case) -> bool:
        """As ``_judge``, on an emulated GPU: see ``grader.judge.sampled``."""
        seed, seconds = self.seed_of(case), self._seconds()
        client.needs_open_gate = self.needs_open_gate
        running, mismatch, alive = None, None, True
        with phase("arena"):
            arena = LargeArena(self.challenge, case, seed)
        try:
            client.bind(arena)
            with phase("call"):
                answer = client.call(arena, arena.inputs, seconds)
            running = answer.seconds
            with phase("compare"):
                finding, mismatch = examine(self.challenge, case, arena, answer, client.memory_bytes)
            client.unbind()
        except ChannelError as error:
            finding, alive = of_lost_box(client, error, seconds), False
        finally:
            with phase("arena"):
                arena.close()
        printed = self._said(client)
        if not alive:
            client.close()
        checked = Checked.SAMPLE if values_are_compared(self.challenge) else Checked.FAULTS
        self._record(case, seed, finding, mismatch, printed, running, checked)
        return alive

    def _note(self, case: Case, answer: Answer) -> None:
        """Hidden cases' notes are secret."""
        if not case.hidden:
            self.remarks = self.remarks or answer.remarks
        known = self.unfreed.bytes if self.unfreed is not None else 0
        if not case.hidden and answer.unfreed is not None and answer.unfreed.bytes > known:
            self.unfreed = answer.unfreed

    def _ask(self, case: Case, seed: int) -> Question | LargeQuestion:
        if self._in_pieces(case):
            return LargeQuestion(self.challenge, case, seed, self.device.torch_device)
        if self.answer is not None:
            return self.answer(case, seed)
        if self.kept is None:
            return ask(self.challenge, case, seed, self.device.torch_device)
        _ = self.challenge.reference  # a broken reference is not the inputs' fault
        try:
            return ask(self.challenge, case, seed, self.device.torch_device)
        except ChallengeInvalid as error:
            raise Unanswered(error.message) from error

    def _in_pieces(self, case: Case) -> bool:
        return case.on is not None and self.challenge.manifest.pieces is not None

    def _poison(self, case: Case) -> Poison:
        """Fixed per case, so that a challenge's cases have every kind."""
        every = [*self.challenge.cases, *self.challenge.hidden_cases]
        # NaN distinguishes adding to it from writing nothing.
        others = [
            case.name for case in every if case.category is not Category.BASIC and all(case.sizes.values())
        ]
        return Poison.in_turn(others.index(case.name)) if case.name in others else Poison.NAN

    def _warm_up(self, client: RunnerClient, arena: Arena, case: Case, seed: int) -> Answer:
        """A call on other data of the same sizes. Only its exceptions count."""
        on = self.device.torch_device
        with phase("draw", enqueues=True):
            inputs: Inputs = (
                LargeInputs(self.challenge, case, seed ^ 1, on)
                if self._in_pieces(case)
                else draw_for(self.challenge, case, seed ^ 1, on)
            )
        with phase("first call"):
            return client.warm_up(arena, inputs, self._seconds())

    def _printed(self, client: RunnerClient) -> bytes:
        with phase("output"):
            return client.printed()

    def _said(self, client: RunnerClient, early: bytes = b"", read: bytes | None = None) -> Printed:
        """``read``: output already read."""
        printed = self._printed(client) if read is None else read
        if self.kept is None:
            return Printed(printed_text(printed, early))
        plain, by_thread, left_out = of_threads(printed)
        return Printed(printed_text(plain, early, limits.OWN_OUTPUT_KEPT_BYTES), by_thread, left_out)

    def _seconds(self) -> float:
        on_processor = self.device.on_processor
        seconds = self.challenge.manifest.limits.call_seconds(on_processor)
        tried_out = self.told_sizes is not None
        if on_processor and tried_out:
            return min(seconds, limits.NEXT_CASE_CPU_SECONDS)
        return seconds

    def _examine(
        self,
        client: RunnerClient,
        arena: Arena,
        question: Question | LargeQuestion,
        case: Case,
        answer: Answer,
    ) -> tuple[faults.CaseFault | None, Mismatch | None]:
        # For hidden cases the author sees only the verdict.
        mistakes = self.mistakes if not case.hidden else None
        if answer.failure is not None:
            mistake = mistakes.of_failure(answer.failure) if mistakes is not None else ""
            return faults.of_exception(answer.failure, "solve ran", client.memory_bytes, mistake), None
        snapshot = None
        if isinstance(question, LargeQuestion):
            mismatch = question.examine(arena)
        elif (mismatch := forbidden_write(arena, question)) is None and case.on is not None:
            mismatch = compare_in_pieces(arena, question)
        elif mismatch is None:
            snapshot = arena.snapshot()
            if self.kept is not None:
                results = self.challenge.manifest.results
                self.kept.keep(
                    question.inputs, {arg.name: shown(snapshot[arg.name], arg.dtype) for arg in results}
                )
            mismatch = compare(arena, snapshot, question)
        if mismatch is None:
            return None, None
        forgotten = answer.forgotten
        # With a checker, differing from the reference says nothing.
        if mistakes is None or mismatch.kind in (REFUSED, PADDING):
            return faults.of_mismatch(mismatch, case, answer.empty_launches, forgotten=forgotten), mismatch
        wrong = None
        if snapshot is not None and isinstance(question, Question):
            wrong = wrong_result(arena, mismatch.argument, snapshot, question)
            wrong = replace(
                wrong,
                given=question.inputs.get(mismatch.argument),
                before=self._before.get(mismatch.argument),
            )
        inputs = question.inputs if isinstance(question, Question) else {}
        if wrong is not None and self._maps < limits.ERROR_MAPS:
            self._maps += 1
            found, read = self._map(client, mismatch, wrong, inputs)
            mismatch = mismatch.model_copy(update={"map": found})
            wrong = replace(wrong, read=read)
        said = mistakes.of_result(wrong, mismatch, case, inputs)
        lost = ""
        if snapshot is not None and isinstance(question, Question) and not said.named:
            lost = other_count(self.challenge.manifest, mismatch.argument, snapshot, question)
        if lost and isinstance(question, Question) and snapshot is not None:
            count = self.challenge.manifest.compare[mismatch.argument].first or mismatch.argument
            counted = wrong_result(arena, count, snapshot, question)
            lost = mistakes.of_count(counted, inputs) or lost
            said = replace(said, text=" ".join(filter(None, (lost, said.text))), named=True)
        adds = mistakes.adds_to(mismatch.argument)
        evidence = said.unwritten or (mistakes.spread(wrong) if wrong is not None else "")
        finding = faults.of_mismatch(
            mismatch, case, answer.empty_launches, said.text, adds, evidence, forgotten=forgotten
        )
        named = (
            bool(forgotten) or (said.named and said.text in finding.hint) or mismatch.kind in _TELLING_KINDS
        )
        return replace(finding, named=named), mismatch

    def _map(
        self, client: RunnerClient, mismatch: Mismatch, wrong: Wrong, inputs: Mapping[str, torch.Tensor]
    ) -> tuple[ErrorMap | None, Mapping[str, torch.Tensor]]:
        """Also the elements that were read, for inputs read in part."""
        found = error_map(wrong, inputs)
        if found is None or mismatch.index is None:
            return found, {}
        said = client.writers(mismatch.argument, place_of(mismatch.index, wrong.shape), found, list(inputs))
        if said is None:
            return found, {}
        assert self.mistakes is not None
        programs = self.mistakes.language.programs
        if mismatch.kind == "unwritten" and said.would is not None:
            place = place_of(mismatch.index, wrong.shape)
            self._absent = Absent(mismatch.argument, wrong.shape, place, said.would, programs)
        return with_writers(found, said, programs=programs), read_of(said, inputs)

    def _record(
        self,
        case: Case,
        seed: int | None,
        finding: faults.CaseFault | None,
        mismatch: Mismatch | None,
        printed: Printed,
        seconds: float | None,
        checked: Checked = Checked.ALL,
        step: StepBundle | None = None,
    ) -> None:
        self.reports.append(
            CaseReport(
                name=case.name,
                category=case.category.value,
                verdict=finding.verdict if finding else CaseVerdict.ACCEPTED,
                seed=seed,
                sizes=dict(case.sizes),
                detail=finding.detail if finding else "",
                hint=finding.hint if finding else "",
                named=finding is not None and finding.named,
                mismatch=mismatch,
                output=printed.text,
                prints=printed.by_thread,
                prints_left_out=printed.left_out,
                seconds=round(seconds, 6) if seconds is not None else None,
                hidden=case.hidden,
                on=case.on,
                checked=checked,
                step=step,
            )
        )


WARM_UP = "[printed by the untimed call before, on other data]\n"
COUNTS = "[printed by the call that counts]\n"


def printed_text(printed: bytes, warm_up: bytes = b"", most: int = limits.OUTPUT_KEPT_BYTES) -> str:
    """Safe for JSON, SQL and pages; at most ``most`` bytes."""
    if not warm_up:
        return _cut(printed, most)
    half = most // 2
    return f"{WARM_UP}{_cut(warm_up, half).rstrip()}\n{COUNTS}{_cut(printed, half)}"


def _cut(printed: bytes, most: int) -> str:
    kept = printed[:most].decode("utf-8", errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
    if len(printed) <= most:
        return kept
    allowed = f"a submission may print {limits.OUTPUT_BYTES:,} in all"
    return f"{kept}\n[cut after {most:,} of {len(printed):,} bytes; {allowed}]"
