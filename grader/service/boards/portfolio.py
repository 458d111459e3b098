"""A person's kernels in one document: the best per challenge, or chosen ones. Without others' names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC

from sqlalchemy.orm import Session

from grader import limits
from grader.device_kinds import representative
from grader.errors import BadRequest
from grader.records import notes, versions
from grader.records import portfolio as kernels
from grader.records.portfolio import AcceptedKernel
from grader.records.ranks import Board
from grader.schemas.portfolio import Portfolio, PortfolioEntry
from grader.service.accounts.accounts import User
from grader.service.boards import board_access
from grader.service.boards.board_access import BoardAccesses
from grader.service.challenges.catalogue import seen_challenges
from grader.service.platform import Platform


def portfolio(platform: Platform, user: User, submissions: Sequence[str] = ()) -> Portfolio:
    """With ``submissions`` (ids), exactly these, also withdrawn ones. Raises BadRequest (not accepted submissions of
    ``user``, or too long)."""
    if len(submissions) > limits.PORTFOLIO_SUBMISSIONS:
        raise BadRequest(
            f"At most {limits.PORTFOLIO_SUBMISSIONS} submissions can be named.", "Leave some of them out."
        )
    titles = {challenge.slug: challenge.manifest.title for challenge in seen_challenges(platform, user)}
    with platform.sessions() as session:
        accesses = board_access.accesses(session, user)
        shown = versions.shown_versions(session)
        found = _of_submissions(kernels.accepted(session, user.id), shown)
        chosen = _named(found, submissions) if submissions else _best(found, shown)
        place = list(titles).index
        chosen.sort(key=lambda kernel: _order(kernel, titles, place))
        sources = kernels.sources(session, [kernel.id for kernel in chosen])
        _check_size(sources)
        said = notes.of(session, [kernel.first for kernel in chosen])
        ranks = _ranks(platform, session, user, chosen, accesses, shown)
    return Portfolio(
        user=user.name,
        at=accesses.now.astimezone(UTC).date(),
        entries=[
            PortfolioEntry(
                submission=kernel.public_id,
                challenge=kernel.challenge,
                title=titles.get(kernel.challenge, kernel.challenge),
                version=kernel.version,
                language=kernel.language,
                device=kernel.device,
                representative=representative(kernel.device),
                time_us=kernel.time_us,
                ci_us=_interval(kernel),
                speedup=kernel.speedup,
                rank=ranks.get(kernel.id, (None, None))[0],
                entries=ranks.get(kernel.id, (None, None))[1],
                competition=kernel.competition is not None,
                withdrawn=kernel.withdrawn_at is not None,
                submitted_at=kernel.submitted_at,
                note=said.get(kernel.first, ""),
                filename=kernel.filename,
                source=sources[kernel.id],
            )
            for kernel in chosen
        ],
    )


def _of_submissions(found: Iterable[AcceptedKernel], shown: Mapping[str, int]) -> list[AcceptedKernel]:
    """Each once, under the shown version, else the latest."""
    latest: dict[int, AcceptedKernel] = {}
    for kernel in found:
        known = latest.get(kernel.first)
        if known is None or _recent(known, shown) <= _recent(kernel, shown):
            latest[kernel.first] = kernel
    return list(latest.values())


def _recent(kernel: AcceptedKernel, shown: Mapping[str, int]) -> tuple[bool, int, int]:
    return shown.get(kernel.challenge) == kernel.version, kernel.version, kernel.id


def _best(found: Iterable[AcceptedKernel], shown: Mapping[str, int]) -> list[AcceptedKernel]:
    best: dict[str, AcceptedKernel] = {}
    for kernel in found:
        known = best.get(kernel.challenge)
        if kernel.withdrawn_at is None and (known is None or _worth(known, shown) < _worth(kernel, shown)):
            best[kernel.challenge] = kernel
    return list(best.values())


def _worth(kernel: AcceptedKernel, shown: Mapping[str, int]) -> tuple[bool, bool, bool, float, float]:
    """The shown version and a GPU come first: other times cannot be compared."""
    return (
        kernel.time_us is not None,
        shown.get(kernel.challenge, kernel.version) == kernel.version,
        representative(kernel.device),
        kernel.speedup or 0.0,
        -(kernel.time_us or 0.0),
    )


def _named(found: Iterable[AcceptedKernel], submissions: Sequence[str]) -> list[AcceptedKernel]:
    by_id = {kernel.public_id: kernel for kernel in found}
    chosen: dict[str, AcceptedKernel] = {}
    for name in submissions:
        kernel = by_id.get(name.lower())
        if kernel is None:
            raise BadRequest(
                f"'{name[:32]}' is not an accepted submission of yours.",
                "`grader history --verdict accepted` lists them.",
            )
        chosen[kernel.public_id] = kernel
    return list(chosen.values())


def _order(
    kernel: AcceptedKernel, titles: Mapping[str, str], place: Callable[[str], int]
) -> tuple[bool, int, str, str, int]:
    """The curriculum's, then challenges that are no longer visible."""
    seen = kernel.challenge in titles
    return not seen, place(kernel.challenge) if seen else 0, kernel.challenge, kernel.device, kernel.first


def _check_size(sources: Mapping[int, str]) -> None:
    size = sum(len(source.encode()) for source in sources.values())
    if size > limits.PORTFOLIO_BYTES:
        raise BadRequest(
            f"The sources have {size:,} bytes together; a portfolio has {limits.PORTFOLIO_BYTES:,} at most.",
            "Choose fewer submissions.",
        )


def _interval(kernel: AcceptedKernel) -> tuple[float, float] | None:
    return None if kernel.ci_lo_us is None or kernel.ci_hi_us is None else (kernel.ci_lo_us, kernel.ci_hi_us)


def _ranks(
    platform: Platform,
    session: Session,
    user: User,
    chosen: Collection[AcceptedKernel],
    accesses: BoardAccesses,
    shown: Mapping[str, int],
) -> dict[int, tuple[int, int]]:
    """Judgement (row id) -> rank and number of entries."""
    found: dict[int, tuple[int, int]] = {}
    for kernel in chosen:
        listed = kernel.competition is None and shown.get(kernel.challenge, kernel.version) == kernel.version
        if not listed or not accesses.of(kernel.challenge).tells_rank_of(own=True):
            continue
        board = Board(kernel.challenge, kernel.version, kernel.device)
        ranking = platform.rankings.of(session, board)
        number = ranking.of_user.get(user.id)
        if number is not None and ranking.places[number].submission == kernel.id:
            found[kernel.id] = ranking.places[number].rank, len(ranking.places)
    return found
