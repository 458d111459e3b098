"""HTML pages made on the server; JavaScript only saves reloads."""

from __future__ import annotations

import sys

from flask import Flask

from grader.web.blueprints import blueprints


def register(app: Flask) -> None:
    """Adds pages and the templates' filters."""
    from grader.web.pages import formats, notices

    formats.init_app(app)
    notices.init_app(app)
    for blueprint in blueprints(sys.modules[__name__]):
        app.register_blueprint(blueprint)
