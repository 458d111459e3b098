"""Finals judge finalists again on hidden seeds and sizes, several times, on one machine, through the normal queue."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import delete

from grader.deadlines import zoned
from grader.errors import BadRequest, Conflict, NotAllowed, NotFound
from grader.records import competitions as record
from grader.records import sources as deleted_sources
from grader.records.models import (
    FinalistRow,
    SubmissionRow,
    TeamRow,
)
from grader.schemas.competition import (
    CompetitionView,
    FinalBody,
    FinalistsBody,
    FinalState,
    FinalView,
)
from grader.schemas.submission import SourceView, State
from grader.service.accounts.accounts import User
from grader.service.competitions import competition_boards
from grader.service.competitions.competition_views import view
from grader.service.competitions.final_order import check_judged, order, replace_cancelled, take_back
from grader.service.competitions.final_view import left_of, team_names, view_final
from grader.service.competitions.open_competition import OpenCompetition, changing, reading
from grader.service.competitions.teams import team_named
from grader.service.courses.permissions import Action
from grader.service.operation.requeue import requeue
from grader.service.platform import Platform


def choose_finalists(platform: Platform, user: User, slug: str, body: FinalistsBody) -> FinalView:
    """Replaces an earlier choice. Raises NotAllowed, NotFound (a team), BadRequest (none, or nothing accepted),
    Conflict (before the end, during a final, after the results)."""
    with changing(platform, user, slug, Action.COMPETITION_FINAL) as found:
        _check_over(found)
        if record.final(found.session, found.row.id) is not None:
            raise Conflict("The competition's final has begun.", "Cancel it first to choose other finalists.")
        ranked = competition_boards.live(platform, found, body.device or found.row.devices[0]).standings
        standing = {standing.team: standing for standing in ranked if standing.rank is not None}
        if body.teams:
            chosen = [team_named(found.session, found.row, name).id for name in dict.fromkeys(body.teams)]
            if without := [team for team in chosen if team not in standing]:
                name = found.session.get_one(TeamRow, without[0]).name
                raise BadRequest(f"{name} has no entry on the board to judge again.")
        elif body.top is not None:
            # Teams with the last rank are equally good.
            chosen = [
                team for team, entry in standing.items() if entry.rank is not None and entry.rank <= body.top
            ]
        else:
            raise BadRequest("Choose a number of best teams, or teams by name.")
        if not chosen:
            raise Conflict("No team has solved anything, so there can be no final.")
        table = FinalistRow
        found.session.execute(delete(table).where(table.competition_id == found.row.id))
        found.session.add_all(table(competition_id=found.row.id, team_id=team) for team in chosen)
        found.session.flush()
        names = team_names(found.session, found.row.id)
        found.note(Action.COMPETITION_FINAL, "/finalists", after={"teams": [names[team] for team in chosen]})
        return view_final(platform, found)


def start_final(platform: Platform, user: User, slug: str, body: FinalBody) -> FinalView:
    """Repeating it queues only failed judgements. Raises NotAllowed, NotFound, Conflict (before the end, unjudged or
    regraded submissions, no finalists, a machine without a device, another version, another final, published
    results)."""
    with changing(platform, user, slug, Action.COMPETITION_FINAL) as found:
        _check_over(found)
        known = record.final(found.session, found.row.id)
        if known is not None:
            if (known.machine, known.repeats) != (body.machine, body.repeats):
                raise Conflict(
                    f"A final with {known.repeats} repeats on {known.machine} has already begun.",
                    "Start it with the same arguments to continue it, or cancel it first.",
                )
            again = replace_cancelled(found, known)
            failed = [
                judgement.public_id
                for _, judgement in record.final_runs(found.session, known.id)
                if judgement.state is State.FAILED and judgement.source
            ]
            queued = again
        else:
            queued, failed = order(platform, found, body), []
        answer = view_final(platform, found)
    for (device, language), count in Counter((row.device, row.language) for row in queued).items():
        platform.wakeups.announce(device, language, count)
    if failed:
        requeue(platform, failed)
        return get_final(platform, user, slug)
    return answer


def cancel_final(platform: Platform, user: User, slug: str) -> FinalView:
    """Its judgements stop counting. Idempotent. Raises NotAllowed, NotFound, Conflict (after the results)."""
    with changing(platform, user, slug, Action.COMPETITION_FINAL) as found:
        if found.row.results_at is not None:
            raise Conflict("The results are already published.")
        known = record.final(found.session, found.row.id)
        if known is not None:
            known.state = FinalState.CANCELLED
            found.session.flush()
            for _, row in record.final_runs(found.session, known.id):
                take_back(found, row)
            found.note(Action.COMPETITION_FINAL, "/final/cancel", after={"final": known.id})
        return view_final(platform, found)


def publish_results(platform: Platform, user: User, slug: str) -> CompetitionView:
    """The final's, else the live board's. Idempotent. Raises NotAllowed, NotFound, Conflict (before the end,
    unjudged, or in a regrade)."""
    with changing(platform, user, slug, Action.COMPETITION_RESULTS) as found:
        if found.row.results_at is None:
            _check_over(found)
            check_judged(found)
            known = record.final(found.session, found.row.id)
            if known is not None and (left := left_of(record.final_runs(found.session, known.id))):
                raise Conflict(
                    f"{left} judgements of the final are missing.",
                    "Wait for them; `grader competition final start` queues those again that the "
                    "platform failed to make.",
                )
            found.row.results_at = found.now
            found.note(Action.COMPETITION_RESULTS, "/results")
            found.session.flush()
            # They counted for a team until now.
            deleted_sources.drop(found.session, found.now, SubmissionRow.competition_id == found.row.id)
        return view(platform, found)


def get_final(platform: Platform, user: User | None, slug: str) -> FinalView:
    """For all after the results, before for staff. Raises NotAllowed, and as ``open_competition.reading``."""
    with reading(platform, user, slug) as found:
        if not found.staff and found.row.results_at is None:
            raise NotAllowed("The results are not published yet.")
        return view_final(platform, found)


def get_code(platform: Platform, viewer: User | None, slug: str, team: str, challenge: str) -> SourceView:
    """For staff and the team, and by the rules for all after the results. Raises NotAllowed, NotFound, and as
    ``open_competition.reading``."""
    with reading(platform, viewer, slug) as found:
        session, row = found.session, found.row
        known = team_named(session, row, team)
        own = viewer is not None and known.id in {
            team.id for team in record.teams_of(session, row.id, viewer.id)
        }
        if not (found.staff or own or (row.code_shown and row.results_at is not None)):
            why = (
                "The results are not published yet."
                if row.code_shown
                else "The rules of this competition do not show code."
            )
            raise NotAllowed(why)
        kind = competition_boards.kind_for(found, None)
        for device in row.devices:
            ranked = competition_boards.of_kind(platform, found, device, kind)
            best = next(
                (standing.best.get(challenge) for standing in ranked.standings if standing.team == known.id),
                None,
            )
            if best is not None:
                source = session.get_one(SubmissionRow, best.key)
                if not source.source:
                    raise NotFound(f"The source of {team} for {challenge} was deleted with an account.")
                return SourceView(
                    id=source.public_id,
                    language=source.language,
                    filename=source.filename,
                    source=source.source,
                )
    raise NotFound(f"{team} has no submission for {challenge[:64]} that counts.")


def _check_over(found: OpenCompetition) -> None:
    if found.row.results_at is not None:
        raise Conflict("The results are already published.")
    if found.now < found.row.ends_at:
        ends = zoned(found.row.ends_at, found.row.time_zone)
        raise Conflict(f"{found.row.title} has not ended yet: it ends at {ends}.")
