"""The tables, by subject. Times are UTC."""

from grader.records.models.accounts import (
    DeletionRow,
    DeviceCodeRow,
    IdentityRow,
    InvitationRow,
    LinkRow,
    TokenRow,
    UserRow,
)
from grader.records.models.base import PUBLIC_ID_CHARS, Base, new_public_id, utcnow
from grader.records.models.challenges import BaselineRow, ChallengeStateRow, UploadRow, VersionRow
from grader.records.models.competitions import (
    CompetitionChallengeRow,
    CompetitionRow,
    FinalistRow,
    FinalRow,
    FinalRunRow,
    RegistrationRow,
    TeamRow,
)
from grader.records.models.courses import (
    AskedRow,
    AssignmentPartRow,
    AssignmentRow,
    CourseInvitationRow,
    CourseRow,
    ExtensionRow,
    JoinCodeRow,
    MemberRow,
    OverrideRow,
    StayRow,
)
from grader.records.models.feedback import (
    CommentEditRow,
    CommentRow,
    CriterionRow,
    FeedbackRow,
    RegradeRequestRow,
    ScoreRow,
)
from grader.records.models.lti import (
    LtiContextRow,
    LtiKeyRow,
    LtiLaunchRow,
    LtiLinkRow,
    LtiPlatformRow,
    LtiScoreRow,
)
from grader.records.models.notices import AnnouncementRow, NoticeChoiceRow, NoticeRow, QuestionRow
from grader.records.models.operations import AuditRow, ChoreRow
from grader.records.models.queues import ChallengeKindRow, PauseRow, QuotaRow
from grader.records.models.regrades import RegradeItemRow, RegradeRow
from grader.records.models.results import CourseVoidRow, ReviewRow, VoidRow
from grader.records.models.similarity import SimilarityRunRow, SimilarPairRow
from grader.records.models.submissions import FlagRow, QuizRow, ReportRow, SubmissionRow
from grader.records.models.workbench import DraftRow, NoteRow
from grader.records.models.workers import ArtefactRow, CeilingRow, GpuRow, WorkerRow

__all__ = [
    "PUBLIC_ID_CHARS",
    "AnnouncementRow",
    "ArtefactRow",
    "AskedRow",
    "AssignmentPartRow",
    "AssignmentRow",
    "AuditRow",
    "Base",
    "BaselineRow",
    "CeilingRow",
    "ChallengeKindRow",
    "ChallengeStateRow",
    "ChoreRow",
    "CommentEditRow",
    "CommentRow",
    "CompetitionChallengeRow",
    "CompetitionRow",
    "CourseInvitationRow",
    "CourseRow",
    "CourseVoidRow",
    "CriterionRow",
    "DeletionRow",
    "DeviceCodeRow",
    "DraftRow",
    "ExtensionRow",
    "FeedbackRow",
    "FinalRow",
    "FinalRunRow",
    "FinalistRow",
    "FlagRow",
    "GpuRow",
    "IdentityRow",
    "InvitationRow",
    "JoinCodeRow",
    "LinkRow",
    "LtiContextRow",
    "LtiKeyRow",
    "LtiLaunchRow",
    "LtiLinkRow",
    "LtiPlatformRow",
    "LtiScoreRow",
    "MemberRow",
    "NoteRow",
    "NoticeChoiceRow",
    "NoticeRow",
    "OverrideRow",
    "PauseRow",
    "QuestionRow",
    "QuizRow",
    "QuotaRow",
    "RegistrationRow",
    "RegradeItemRow",
    "RegradeRequestRow",
    "RegradeRow",
    "ReportRow",
    "ReviewRow",
    "ScoreRow",
    "SimilarPairRow",
    "SimilarityRunRow",
    "StayRow",
    "SubmissionRow",
    "TeamRow",
    "TokenRow",
    "UploadRow",
    "UserRow",
    "VersionRow",
    "VoidRow",
    "WorkerRow",
    "new_public_id",
    "utcnow",
]
