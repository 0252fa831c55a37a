"""An HTTP server for metrics: answers `GET /metrics` with the text that was published last.

It runs in a thread of its own and listens on the given host only.
"""

from __future__ import annotations

import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from pathcast.errors import PipelineError

__all__ = ["MetricsServer"]

_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_TIMEOUT_SECONDS: Final = 10


class MetricsServer:
    """Serves text until `close`; port 0 takes a free one."""

    def __init__(self, host: str, port: int) -> None:
        text = self._text = [""]

        class Handler(BaseHTTPRequestHandler):
            timeout = _TIMEOUT_SECONDS

            def do_GET(self) -> None:
                is_known = self.path.partition("?")[0] in ("/", "/metrics")
                content = text[0].encode() if is_known else b"try /metrics\n"
                self.send_response(HTTPStatus.OK if is_known else HTTPStatus.NOT_FOUND)
                self.send_header("Content-Type", _CONTENT_TYPE)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                """Requests are not logged."""

        try:
            self._server = ThreadingHTTPServer((host, port), Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise PipelineError(
                "metrics", f"cannot listen on {host}:{port}: {reason}", hint="choose another port"
            ) from None
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        """The address of the metrics."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}/metrics"

    def publish(self, text: str) -> None:
        """Replace the text."""
        self._text[0] = text

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
