"""Whether the web of this container answers: for HEALTHCHECK, with nothing but Python's own library.

Another part that is down (the database, say) is for monitors to see: restarting the web would not mend it.
"""

import os
import sys
import urllib.request

ADDRESS = f"http://127.0.0.1:{os.environ.get('GRADER_PORT', '8000')}/health"

try:
    urllib.request.urlopen(ADDRESS, timeout=4).close()
except OSError as error:
    sys.exit(f"{ADDRESS}: {error}")
