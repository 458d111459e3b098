"""Proves challenges in parallel processes and combines their findings."""

from __future__ import annotations

import multiprocessing
import os
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from grader.authoring.candidates import subjects
from grader.authoring.findings import check
from grader.authoring.holes import Closing
from grader.authoring.verdicts import approximation_checks, suite_checks
from grader.authoring.versioned import version_check
from grader.authoring.worker_pool import Done, Part, Work, begin, do
from grader.challenge.catalogue import Catalogue
from grader.device_kinds import gpus_of, kind_of
from grader.errors import BoxUnavailable, ChallengeInvalid, JudgeFailure
from grader.judge.request import CPU
from grader.languages import Language
from grader.schemas.proof import (
    ApproximationResult,
    CandidateOutcome,
    CandidateResult,
    CandidateRole,
    Check,
    Proof,
    Proofs,
    Status,
)

JOBS_PER_GPU = 16
# Wrong kernels to search a case for: up to ``holes.SECONDS`` each.
_MOST_HOLES = 4
_LOOK_SECONDS = 0.5


@dataclass(frozen=True)
class Options:
    # "cpu" or a GPU's board.
    device: str = CPU
    languages: tuple[Language, ...] = field(default_factory=lambda: tuple(Language))
    jobs: int = 0
    # Wrong submissions run every case.
    matrix: bool = False
    gpus: tuple[int, ...] = (0,)
    # In this process: a box has no shared memory for a pool's locks.
    here: bool = False

    @property
    def workers(self) -> int:
        """More contexts would only wait for a GPU's driver."""
        cores = os.cpu_count() or 1
        return self.jobs or (
            cores if kind_of(self.device).gpus is None else min(cores, JOBS_PER_GPU * len(self.gpus))
        )


@dataclass
class _Draft:
    slug: str
    checks: list[Check] = field(default_factory=list)
    tried: list[CandidateResult] = field(default_factory=list)
    approximations: list[ApproximationResult] = field(default_factory=list)
    misfits: list[str] = field(default_factory=list)
    unfair: list[str] = field(default_factory=list)
    proposed: dict[str, Closing] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, done: Done) -> None:
        self.checks += done.checks
        self.tried += done.tried
        self.approximations += done.odds.results
        self.misfits += done.odds.misfits
        self.unfair += done.odds.unfair
        self.proposed |= done.proposed
        self.seconds += done.seconds


OnProgress = Callable[[int, int, str], None]


def prove(catalogue: Path, slugs: Sequence[str], options: Options, on_progress: OnProgress) -> Proofs:
    """Calls ``on_progress(done, total, label)``. Raises UnknownChallenge, JudgeFailure, BoxUnavailable."""
    began = time.perf_counter()
    drafts = {slug: _Draft(slug) for slug in slugs}
    work = [planned for slug in slugs for planned in _plan(Catalogue(catalogue), drafts[slug], options)]
    # Timed runs and full-size workloads come last, one at a time per GPU.
    loaded = list(dict.fromkeys(piece.slug for piece in work))
    timed = [Work(slug, Part.MEASURED, 0, "a timed run", options.languages) for slug in _timed(work, options)]
    if not kind_of(options.device).representative:
        work += approximated(Catalogue(catalogue), loaded)
    else:
        timed += approximated(Catalogue(catalogue), loaded)
    done, total = 0, len(work) + len(timed)

    def tell(label: str) -> None:
        on_progress(done, total, label)

    for part, workers in ((work, options.workers), (timed, len(options.gpus))):
        for one, result in _results(catalogue, options, part, workers, tell):
            done += 1
            drafts[one.slug].add(result)
            on_progress(done, total, f"{one.slug}: {one.label}")
    holes = [hole for slug in loaded for hole in _holes(Catalogue(catalogue), drafts[slug], options)]
    for one, result in _results(catalogue, options, holes, options.workers, lambda _: None):
        done += 1
        drafts[one.slug].add(result)
        on_progress(done, total + len(holes), f"{one.slug}: {one.label}")
    proofs = [_proof(Catalogue(catalogue), draft, options) for draft in drafts.values()]
    return Proofs(
        strong=all(proof.strong for proof in proofs),
        device=options.device,
        seconds=round(time.perf_counter() - began, 2),
        challenges=proofs,
    )


def _plan(catalogue: Catalogue, draft: _Draft, options: Options) -> Iterator[Work]:
    """``draft`` gets the reason if it does not load."""
    try:
        challenge = catalogue.load(draft.slug)
        every = [*challenge.cases, *challenge.hidden_cases]
        chosen = subjects(challenge, options.languages)
        version = version_check(catalogue, challenge)
    except ChallengeInvalid as error:
        draft.checks.append(Check(name="manifest", status=Status.ERROR, summary=error.told))
        return
    needed, there = challenge.manifest.gpus, gpus_of(options.device)
    if there is not None and there < needed:
        boards = f"check it on emulated or {options.device}-x{needed}"
        summary = f"it runs on {needed} GPUs, and the board '{options.device}' has fewer: {boards}"
        draft.checks.append(Check(name="manifest", status=Status.ERROR, summary=summary))
        return
    wanted = [slug for slug in challenge.manifest.prerequisites if slug not in catalogue.slugs()]
    problems = [f"prerequisites: there is no challenge '{slug}'" for slug in wanted]
    grading = challenge.manifest.grading
    used = {group.name for case in every if (group := grading.group_of(case)) is not None}
    problems += [
        f"grading.groups '{group.name}': it has no case, or the groups before it take all of them"
        for group in grading.groups
        if group.name not in used
    ]
    draft.checks.append(check("manifest", problems, f"it loads, with {len(every)} cases", bad=Status.ERROR))
    draft.checks.append(version)
    yield Work(draft.slug)
    for number, candidate in enumerate(chosen):
        label = f"{candidate.role.value} {candidate.name}"
        yield Work(draft.slug, Part.SUBMISSION, number, label, options.languages, options.matrix)


def _holes(catalogue: Catalogue, draft: _Draft, options: Options) -> Iterator[Work]:
    """For the first wrong kernels that survive and are not waived."""
    challenge = catalogue.load(draft.slug)
    alive = {
        (result.role, result.name)
        for result in draft.tried
        if result.role.wrong and result.ending is CandidateOutcome.ACCEPTED
    }
    if not alive:
        return
    chosen = [
        (number, candidate)
        for number, candidate in enumerate(subjects(challenge, options.languages))
        if (candidate.role, candidate.name) in alive and candidate.name not in challenge.manifest.waives
    ]
    for number, candidate in chosen[:_MOST_HOLES]:
        label = f"a case that {candidate.name} fails"
        yield Work(draft.slug, Part.HOLE, number, label, options.languages)


def approximated(catalogue: Catalogue, slugs: Sequence[str]) -> list[Work]:
    found = []
    for slug in slugs:
        with suppress(ChallengeInvalid):
            for number, workload in enumerate(catalogue.load(slug).manifest.workloads):
                label = f"approximations at {workload.name}"
                found.append(Work(slug, Part.APPROXIMATIONS, number, label))
    return found


def _timed(work: Sequence[Work], options: Options) -> list[str]:
    if not kind_of(options.device).representative:
        return []
    return list(dict.fromkeys(piece.slug for piece in work))


def _results(
    catalogue: Path, options: Options, work: Sequence[Work], workers: int, tell: Callable[[str], None]
) -> Iterator[tuple[Work, Done]]:
    """As they end; what runs goes to ``tell``. Work without a box is tried once more, alone. Raises
    JudgeFailure if a process dies, BoxUnavailable if a second try fails too, or if all first ones do.
    """
    refused: list[Work] = []
    for one, done in _tries(catalogue, options, work, workers, tell):
        if isinstance(done, Done):
            yield one, done
            continue
        refused.append(one)
        if len(refused) == len(work):
            raise done
    for one, done in _tries(catalogue, options, refused, 1, tell):
        if not isinstance(done, Done):
            raise done
        yield one, done


def _tries(
    catalogue: Path, options: Options, work: Sequence[Work], workers: int, tell: Callable[[str], None]
) -> Iterator[tuple[Work, Done | BoxUnavailable]]:
    if not work:
        return
    if options.here:
        yield from _tried_here(catalogue, options, work)
        return
    # A CUDA context and torch's threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    workers = max(1, min(workers, len(work)))
    gpus = context.SimpleQueue()
    for number in range(workers):
        gpus.put(options.gpus[number % len(options.gpus)])
    said = context.SimpleQueue()
    pool = ProcessPoolExecutor(
        max_workers=workers,
        mp_context=context,
        initializer=begin,
        initargs=(catalogue, options.device, gpus, said),
    )
    futures: dict[Future[Done], Work] = {}

    def listen() -> None:
        while not said.empty():
            if label := said.get():
                tell(label)

    try:
        futures |= {pool.submit(do, one): one for one in work}
        left = set(futures)
        while left:
            ended, left = wait(left, _LOOK_SECONDS, FIRST_COMPLETED)
            listen()
            for future in ended:
                error = future.exception()
                yield futures[future], error if isinstance(error, BoxUnavailable) else future.result()
    except BrokenProcessPool as error:
        raise JudgeFailure(
            "a process that proves challenges ended unexpectedly", "Is memory short? Try --jobs 1."
        ) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        # To ``wait``, a cancelled future is never done.
        while running := [future for future in futures if not future.done()]:
            wait(running, _LOOK_SECONDS)
            listen()  # or one that says more than a pipe holds would wait for ever
        pool.shutdown()


def _tried_here(
    catalogue: Path, options: Options, work: Sequence[Work]
) -> Iterator[tuple[Work, Done | BoxUnavailable]]:
    gpus: queue.SimpleQueue[int] = queue.SimpleQueue()
    gpus.put(options.gpus[0])
    begin(catalogue, options.device, gpus, queue.SimpleQueue())
    for one in work:
        try:
            yield one, do(one)
        except BoxUnavailable as error:
            yield one, error


def _proof(catalogue: Catalogue, draft: _Draft, options: Options) -> Proof:
    # A failing reference fails every submission.
    checks = list({(check.name, check.summary): check for check in draft.checks}.values())
    draft.tried = [
        result.model_copy(update={"proposed": draft.proposed[result.name].text.strip()})
        if result.name in draft.proposed
        else result
        for result in draft.tried
    ]
    draft.tried.sort(key=lambda result: (list(CandidateRole).index(result.role), result.name))
    if draft.approximations:
        order = [workload.name for workload in catalogue.load(draft.slug).manifest.workloads]
        draft.approximations.sort(key=lambda result: order.index(result.workload))
        checks += approximation_checks(draft.approximations, draft.misfits, draft.unfair)
    if draft.tried:
        checks += suite_checks(
            draft.tried,
            options.matrix,
            _case_names(catalogue, draft.slug, options.device),
            catalogue.load(draft.slug).manifest.waives,
        )
    return Proof(
        slug=draft.slug,
        device=options.device,
        checks=checks,
        tried=draft.tried,
        approximations=draft.approximations,
        cases=_case_names(catalogue, draft.slug, options.device) if draft.tried else [],
        matrix=options.matrix,
        seconds=round(draft.seconds, 2),
    )


def _case_names(catalogue: Catalogue, slug: str, device: str) -> list[str]:
    return [case.name for case in catalogue.load(slug).suite(kind_of(device).cases)]
