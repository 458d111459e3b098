from tests.judge.conftest import boxes, course, judge  # noqa: F401 - the same fixtures serve both folders
