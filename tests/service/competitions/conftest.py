from tests.service.fixtures import (  # noqa: F401 - fixtures
    other,
    platform,
    redis_server,
    redis_url,
    settings,
    staff,
    student,
)
