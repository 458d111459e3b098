"""Budgets of GPU seconds, checked when a submission is stored. Those that wait are not counted, so a payer may use
more by what it has in the queue."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from grader.device_kinds import gpus_of
from grader.errors import NotFound, TooMany
from grader.formats import wait
from grader.records import budgets
from grader.records.budgets import Account, Spent
from grader.records.engine import clock, writing
from grader.records.models import BudgetRow, CompetitionRow, CourseRow, SubmissionRow, TokenRow, UserRow
from grader.schemas.account import STAFF_ROLES
from grader.schemas.budget import Budget, BudgetBody, BudgetList, GpuDay, GpuTime, Payer
from grader.service import audit
from grader.service.accounts.accounts import User, name_key
from grader.service.courses import admission, permissions
from grader.service.courses.permissions import Action
from grader.service.platform import Platform
from grader.settings import Settings

_DAYS = 30
_NAMES: dict[Payer, tuple[InstrumentedAttribute[int], InstrumentedAttribute[str]]] = {
    Payer.USER: (UserRow.id, UserRow.name),
    Payer.COURSE: (CourseRow.id, CourseRow.slug),
    Payer.COMPETITION: (CompetitionRow.id, CompetitionRow.slug),
}


def admit(session: Session, settings: Settings, user: User, row: SubmissionRow) -> None:
    """Notes who pays. Call it in the transaction that stores the submission. Raises TooMany."""
    row.token_id = user.token.number if user.token is not None else None
    if gpus_of(row.device) is None:
        return
    if row.competition_id is None:
        assigned = admission.running(session, user.id, row.challenge, row.created_at)
        row.course_id = assigned[0].course.id if assigned else None
    payers = {
        Payer.USER: user.id,
        Payer.COURSE: row.course_id,
        Payer.COMPETITION: row.competition_id,
        Payer.TOKEN: row.token_id,
    }
    accounts = [Account(payer, number) for payer, number in payers.items() if number is not None]
    for account, limit in _limits(session, settings, user, accounts).items():
        _check(session, account, limit, row.created_at)


def own(platform: Platform, user: User) -> GpuTime:
    with platform.sessions() as session:
        now = clock(session)
        accounts = [Account(Payer.USER, user.id)]
        if user.token is not None:
            accounts.append(Account(Payer.TOKEN, user.token.number))
        limits = _limits(session, platform.settings, user, accounts)
        found = [
            _view(user.name if account.payer is Payer.USER else str(account.id), account, limit, spent)
            for account, limit in limits.items()
            for spent in [budgets.spent(session, account, now)]
        ]
        days = budgets.days(session, user.id, now - timedelta(days=_DAYS - 1))
    return GpuTime(
        budgets=found,
        days=[GpuDay(day=date.fromisoformat(day), seconds=seconds) for day, seconds in days],
    )


def of_tokens(platform: Platform, user: User, tokens: list[int]) -> dict[int, Budget]:
    """Of the user's own ``tokens``, by number."""
    with platform.sessions() as session:
        now = clock(session)
        accounts = [Account(Payer.TOKEN, number) for number in tokens]
        limits = budgets.budgets(session, accounts) if accounts else {}
        return {
            account.id: _view(
                str(account.id), account, limits.get(account), budgets.spent(session, account, now)
            )
            for account in accounts
        }


def list_budgets(platform: Platform, user: User) -> BudgetList:
    """Of users, courses and competitions that have a budget or used a GPU, by what they used. Raises NotAllowed."""
    with platform.sessions() as session:
        permissions.check(user, permissions.standings(session, user), Action.BUDGETS_READ)
        now = clock(session)
        limits = budgets.every_budget(session)
        found = []
        for payer in _NAMES:
            spent = budgets.spenders(session, payer, now)
            accounts = spent.keys() | {account for account in limits if account.payer is payer}
            names = _names(session, payer, [account.id for account in accounts])
            found += [
                _view(names[account.id], account, limits.get(account), spent.get(account, Spent()))
                for account in accounts
                if account.id in names
            ]
    return BudgetList(budgets=sorted(found, key=lambda view: (view.payer, -view.spent_total_s, view.name)))


def set_budget(platform: Platform, user: User, payer: Payer, name: str, body: BudgetBody) -> Budget:
    """A token's budget is its owner's to set. Raises NotAllowed, NotFound."""
    with writing(platform.sessions) as session:
        if payer is not Payer.TOKEN:
            permissions.check(user, permissions.standings(session, user), Action.BUDGET_SET)
        account, shown = _account(session, user, payer, name)
        before = budgets.budgets(session, [account]).get(account)
        old = BudgetBody(day_s=before.day_s, total_s=before.total_s) if before is not None else BudgetBody()
        budgets.put(session, account, body.day_s, body.total_s)
        if payer is not Payer.TOKEN:
            audit.note(
                session,
                user,
                Action.BUDGET_SET,
                f"/budgets/{payer}/{shown}",
                before=old.model_dump(),
                after=body.model_dump(),
            )
        session.flush()
        found = budgets.budgets(session, [account]).get(account)
        return _view(shown, account, found, budgets.spent(session, account, clock(session)))


def _limits(
    session: Session, settings: Settings, user: User, accounts: list[Account]
) -> dict[Account, BudgetRow]:
    """With the platform's budget for users without their own; staff have none."""
    found = budgets.budgets(session, accounts)
    usual = settings.gpu_seconds_per_day
    mine = Account(Payer.USER, user.id)
    if usual and mine not in found and user.role not in STAFF_ROLES:
        found = {mine: BudgetRow(payer=Payer.USER, payer_id=user.id, day_s=usual, total_s=None)} | found
    return found


def _check(session: Session, account: Account, limit: BudgetRow, now: datetime) -> None:
    """Raises TooMany."""
    spent = budgets.spent(session, account, now)
    if limit.total_s is not None and spent.total_s >= limit.total_s:
        raise TooMany(
            f"{_subject(session, account)} used {spent.total_s:.0f} GPU seconds; the budget is "
            f"{limit.total_s:.0f} in all.",
            (
                "Give it a larger budget, or send with another token."
                if account.payer is Payer.TOKEN
                else "Ask staff for a larger budget."
            )
            + _ELSEWHERE,
        )
    if limit.day_s is not None and spent.day_s >= limit.day_s:
        midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        raise TooMany(
            f"{_subject(session, account)} used {spent.day_s:.0f} GPU seconds today; the budget is "
            f"{limit.day_s:.0f} a day.",
            f"The next day begins at midnight UTC, in {wait((midnight - now).total_seconds())}." + _ELSEWHERE,
        )


_ELSEWHERE = " Boards without a GPU still take submissions."


def _subject(session: Session, account: Account) -> str:
    if account.payer is Payer.USER:
        return "Your submissions have"
    if account.payer is Payer.TOKEN:
        return "This token's submissions have"
    name = _names(session, account.payer, [account.id]).get(account.id, "")
    return f"All submissions for the {account.payer} {name} together have"


def _names(session: Session, payer: Payer, ids: list[int]) -> dict[int, str]:
    key, name = _NAMES[payer]
    found = session.execute(select(key, name).where(key.in_(ids)))
    return dict(found.all())


def _account(session: Session, user: User, payer: Payer, name: str) -> tuple[Account, str]:
    """Raises NotFound."""
    if payer is Payer.TOKEN:
        number = int(name) if name.isascii() and name.isdigit() and len(name) < 10 else 0
        if (
            session.scalar(select(TokenRow.id).where(TokenRow.id == number, TokenRow.user_id == user.id))
            is None
        ):
            raise NotFound(f"You have no token {name}.", "The page Settings lists your tokens.")
        return Account(payer, number), name
    key, column = _NAMES[payer]
    same: ColumnElement[bool] = UserRow.name_key == name_key(name) if payer is Payer.USER else column == name
    found = session.execute(select(key, column).where(same)).one_or_none()
    if found is None:
        raise NotFound(
            f"There is no {payer} '{name}'.", "`grader admin budgets` lists those that used a GPU."
        )
    return Account(payer, found[0]), found[1]


def _view(name: str, account: Account, limit: BudgetRow | None, spent: Spent) -> Budget:
    return Budget(
        payer=account.payer,
        name=name,
        day_s=limit.day_s if limit is not None else None,
        total_s=limit.total_s if limit is not None else None,
        spent_day_s=round(spent.day_s, 3),
        spent_total_s=round(spent.total_s, 3),
    )
