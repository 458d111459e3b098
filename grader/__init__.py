"""Self-hosted grading for GPU kernels. Importing this package loads nothing but itself."""

import os.path

__version__ = "0.1.0"

# In a checkout, grader/sandbox and grader/web are links to folders next to this one. Without links (a ZIP,
# Windows) they are text files; this makes those folders subpackages there.
_here = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120 - pathlib would slow the command line's start
if not os.path.isdir(os.path.join(_here, "sandbox")):  # noqa: PTH112, PTH118
    __path__.append(os.path.dirname(_here))  # noqa: PTH120
