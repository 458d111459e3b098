"""Health check of this container's web (HEALTHCHECK), with Python's own library alone.

It ignores failures of other parts (the database, say): restarting the web would not repair them; monitors see them.
"""

import os
import sys
import urllib.request

ADDRESS = f"http://127.0.0.1:{os.environ.get('GRADER_PORT', '8000')}/health"

try:
    urllib.request.urlopen(ADDRESS, timeout=4).close()
except OSError as error:
    sys.exit(f"{ADDRESS}: {error}")
