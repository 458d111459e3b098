"""Jobs as Kubernetes' API serves them, for its own client."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import trustme


class ApiServer(ThreadingHTTPServer):
    jobs: dict[str, Any]
    # A client without it is refused.
    token: str | None


class Api(BaseHTTPRequestHandler):
    server: ApiServer

    def do_POST(self) -> None:
        job = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if job["metadata"]["name"] in self.server.jobs:
            return self._answer({"kind": "Status", "message": "already exists"}, 409)
        self.server.jobs[job["metadata"]["name"]] = job | {"status": {}}
        return self._answer(job, 201)

    def do_GET(self) -> None:
        if self.server.token and self.headers["Authorization"] != f"bearer {self.server.token}":
            return self._answer({"kind": "Status"}, 401)
        ((selector,),) = parse_qs(urlsplit(self.path).query).values()
        label, _, value = selector.partition("=")
        chosen = [job for job in self.server.jobs.values() if job["metadata"]["labels"].get(label) == value]
        return self._answer({"kind": "JobList", "apiVersion": "batch/v1", "items": chosen})

    def do_DELETE(self) -> None:
        name = urlsplit(self.path).path.rpartition("/")[2]
        there = self.server.jobs.pop(name, None)
        self._answer({"kind": "Status"}, 200 if there else 404)

    def _answer(self, body: dict[str, Any], status: int = 200) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def served(authority: trustme.CA | None = None, token: str | None = None) -> Iterator[ApiServer]:
    server = ApiServer(("127.0.0.1", 0), Api)
    server.jobs = {}
    server.token = token
    if authority is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def kubeconfig(server: ApiServer, folder: Path) -> Path:
    path = folder / "config"
    address = f"http://127.0.0.1:{server.server_address[1]}"
    path.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": {"server": address}}],
                "users": [{"name": "u", "user": {}}],
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "x",
            }
        )
    )
    return path
