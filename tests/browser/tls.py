"""A reverse proxy that terminates TLS, as operators run in front of the web."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import trustme

_PATIENCE_SECONDS = 60
# Headers of one connection, not of the message.
_OWN = {"connection", "transfer-encoding", "content-length", "date", "server"}


@contextmanager
def tls_before(url: str) -> Iterator[str]:
    """The address of a proxy in front of ``url``, with an unknown certificate."""
    behind = urlsplit(url)
    assert behind.hostname
    assert behind.port
    host, port = behind.hostname, behind.port

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = _PATIENCE_SECONDS

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: value for name, value in self.headers.items() if name.lower() not in _OWN}
            headers |= {
                "X-Forwarded-For": self.client_address[0],
                "X-Forwarded-Proto": "https",
                "X-Forwarded-Host": self.headers["Host"],
                "Content-Length": str(len(body)),
            }
            connection = HTTPConnection(host, port, timeout=_PATIENCE_SECONDS)
            try:
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                told = answer.read()
            finally:
                connection.close()
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _OWN:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        do_POST = do_GET  # noqa: N815 - the name that http.server looks for

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    class Proxy(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A browser that leaves during an answer is not a failure."""

    with Proxy(("127.0.0.1", 0), Handler) as server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
        # Handshakes run in the connection's thread: an idle one must not block the others.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"https://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
