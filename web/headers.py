from __future__ import annotations

from flask import Flask, Response, g, request

from grader.web.auth.identity import viewer

# No inline script or style: a student's text that slips through cannot run.
_POLICY = "; ".join(
    [
        "default-src 'none'",
        "connect-src 'self'",
        "img-src 'self'",
        "script-src 'self'",
        "style-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)
# A worker's policy comes with its script; only this one may compile WebAssembly.
_WORKER = "step_worker.js"
_WORKER_POLICY = "default-src 'none'; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval'"
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
# A year, for this host only: the domain's other hosts are not ours.
_ONLY_TLS = "max-age=31536000"


def _open_for_platforms(response: Response) -> None:
    """Origins that admins named may frame a few pages, which use no session (``pages.lti``)."""
    policy = response.headers["Content-Security-Policy"]
    if framed_by := getattr(g, "framed_by", ""):
        policy = policy.replace("frame-ancestors 'none'", f"frame-ancestors {framed_by}")
        del response.headers["X-Frame-Options"]
    if forms_to := getattr(g, "forms_to", ""):
        policy = policy.replace("form-action 'self'", f"form-action 'self' {forms_to}")
    response.headers["Content-Security-Policy"] = policy


def init_app(app: Flask) -> None:
    app.after_request(_guard)


def _guard(response: Response) -> Response:
    if request.endpoint == "static" and (request.view_args or {}).get("filename") == _WORKER:
        response.headers["Content-Security-Policy"] = _WORKER_POLICY
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    _open_for_platforms(response)
    if nonce := getattr(g, "style_nonce", ""):  # CodeMirror creates style sheets
        own = f"style-src 'self' 'nonce-{nonce}'"
        response.headers["Content-Security-Policy"] = _POLICY.replace("style-src 'self'", own)
    if request.is_secure:
        response.headers["Strict-Transport-Security"] = _ONLY_TLS
    if "Cache-Control" not in response.headers:
        # Keeps private content off shared disks.
        kept = "no-cache" if viewer() is None else "no-store"
        response.headers["Cache-Control"] = f"private, {kept}"
    return response
