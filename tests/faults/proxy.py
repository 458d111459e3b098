"""Stands between workers over HTTPS and the web, and does to their requests what networks and proxies do."""

from __future__ import annotations

import http.client
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_ANSWER_SECONDS = 60.0
# Calls without effect: to lose their answers would show nothing.
_DULL = ("look", "wait")


class Proxy:
    """``orders``: what happens to the next calls that change something: lost (carried out, and not answered), twice
    (delivered again), refused (500, not carried out). ``down``: every call is refused.
    """

    def __init__(self, port: int) -> None:
        self.orders: deque[str] = deque()
        self.down = threading.Event()
        self.done: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                order = "" if self.path.endswith(_DULL) or not outer.orders else outer.orders.popleft()
                if order:
                    outer.done.append(f"{order} {self.path}")
                if outer.down.is_set() or order == "refused":
                    self._answer(500, {}, b"oops")
                    return
                for _ in range(2 if order == "twice" else 1):
                    found = self._forward(port, data)
                if order == "lost" or found is None:
                    self.close_connection = True
                    return
                self._answer(*found)

            def _forward(self, port: int, data: bytes) -> tuple[int, dict[str, str], bytes] | None:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_ANSWER_SECONDS)
                try:
                    connection.request("POST", self.path, data, dict(self.headers))
                    answer = connection.getresponse()
                    kept = {"Content-Type": answer.headers.get("Content-Type", "")}
                    return answer.status, kept, answer.read()
                except (OSError, http.client.HTTPException):
                    return None
                finally:
                    connection.close()

            def _answer(self, status: int, headers: dict[str, str], data: bytes) -> None:
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(data))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                pass

            def handle(self) -> None:
                try:
                    super().handle()
                except OSError:  # a worker was killed
                    self.close_connection = True

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
