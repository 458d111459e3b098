from __future__ import annotations

from flask import Flask, Response, g, request

from grader.web.auth.identity import viewer

# Own files only, no inline script or style: text of a student that slipped through could not run.
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
# A worker's policy comes with its script. This one compiles WebAssembly, which pages may not.
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
# A year, as browsers require; other hosts of the domain are not ours.
_ONLY_TLS = "max-age=31536000"


def _open_for_platforms(response: Response) -> None:
    """Origins that admins named may frame a few pages, which use no session, and receive the form with a choice (see
    ``pages.lti``)."""
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
        # Private content must not stay on a shared computer's disk.
        kept = "no-cache" if viewer() is None else "no-store"
        response.headers["Cache-Control"] = f"private, {kept}"
    return response
