from __future__ import annotations

from flask import Response
from pydantic import BaseModel, Field

from grader.schemas.course_catalogue import CourseCatalogue, HookView, RepositoryBody
from grader.schemas.submission import ErrorEnvelope
from grader.schemas.upload import UploadBody, UploadList
from grader.service.challenges import course_catalogue, uploads
from grader.service.courses.permissions import Action
from grader.web import throttle
from grader.web.access import ANYONE, PARTY, open_to
from grader.web.answers import answer
from grader.web.api.courses import CoursePath, base
from grader.web.api.resource import resource
from grader.web.auth.identity import current_user
from grader.web.current import platform

api = resource("course-catalogues", "Challenges of a course")

_AT = "/courses/<course>/catalogue"


class HookPath(BaseModel):
    key: str = Field(max_length=100)


@api.get(_AT, responses={200: CourseCatalogue})
@open_to(PARTY, action=Action.CATALOGUE_READ)
def get_catalogue(path: CoursePath) -> Response:
    """The course's challenges with their states, its repository, and the commit that is served."""
    return answer(course_catalogue.get_catalogue(platform(), current_user(), path.course))


@api.post(_AT, responses={201: UploadList, 409: ErrorEnvelope})
@open_to(PARTY, action=Action.CATALOGUE_EDIT)
@throttle.upload_limit
def upload_to_course(path: CoursePath, body: UploadBody) -> Response:
    """Upload one or more challenges as a ZIP archive. Only members of the course will see them."""
    return answer(uploads.upload_to_course(platform(), current_user(), path.course, body), 201)


@api.put(f"{_AT}/source", responses={200: CourseCatalogue, 409: ErrorEnvelope})
@open_to(PARTY, action=Action.CATALOGUE_EDIT)
def put_source(path: CoursePath, body: RepositoryBody) -> Response:
    """Name the git repository and the branch of the catalogue."""
    return answer(course_catalogue.set_source(platform(), current_user(), path.course, body))


@api.delete(f"{_AT}/source", responses={200: CourseCatalogue})
@open_to(PARTY, action=Action.CATALOGUE_EDIT)
def delete_source(path: CoursePath) -> Response:
    """Forget the repository and its token. Challenges that came from it stay."""
    return answer(course_catalogue.remove_source(platform(), current_user(), path.course))


@api.post(f"{_AT}/source/sync", responses={200: CourseCatalogue})
@open_to(PARTY, action=Action.CATALOGUE_EDIT)
@throttle.upload_limit
def synchronise(path: CoursePath) -> Response:
    """Let a worker fetch the branch's newest commit, check what changed, and serve it if nothing in use breaks."""
    return answer(course_catalogue.synchronise(platform(), current_user(), path.course))


@api.post(f"{_AT}/source/hook", responses={201: HookView})
@open_to(PARTY, action=Action.CATALOGUE_EDIT)
def make_hook(path: CoursePath) -> Response:
    """Make an address for the repository's webhook, shown once. The previous one stops working."""
    return answer(course_catalogue.make_hook(platform(), current_user(), path.course, base()), 201)


@api.post("/hooks/catalogue/<key>", responses={202: None, 404: ErrorEnvelope})
@open_to(ANYONE)
@throttle.hook_limit
def catalogue_hook(path: HookPath) -> Response:
    """What GitHub, GitLab or Gitea calls after a push. The body is not read."""
    course_catalogue.hook_called(platform(), path.key)
    return Response(status=202)
