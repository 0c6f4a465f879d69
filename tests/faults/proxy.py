"""A proxy before an MLflow server that fails in the ways servers fail."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HOP_BY_HOP = {"connection", "transfer-encoding", "content-length", "server", "date"}


class Proxy:
    """Passes requests on as its mode says.

    Attributes
    ----------
    mode : pass, 400, 500, down (no answer), lost (done, but the answer is lost)
    wanted : what requests must carry to prove who they are; any other gets 401
    """

    def __init__(self, port: int) -> None:
        self.mode = "pass"
        self.wanted = ""
        self._left = -1  # answers before the one that is lost
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                proxy.answer(self, port)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        for verb in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            setattr(Handler, f"do_{verb}", Handler.handle_any)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def uri(self) -> str:
        """What MLFLOW_TRACKING_URI is set to."""
        return f"http://127.0.0.1:{self.port}"

    def lose(self, nth: int) -> None:
        """Lose the answer to the n-th request from now on, and no other."""
        self._left = nth

    def answer(self, asked: Any, port: int) -> None:
        """Answer one request."""
        body = asked.rfile.read(int(asked.headers.get("Content-Length", 0)))
        known = self.wanted in ("", asked.headers.get("Authorization"))
        mode = self.mode if known else "401"
        mode = "lost" if self._left == 0 else mode
        self._left -= 1
        if mode in ("400", "401", "500"):
            asked.send_response(int(mode))
            asked.send_header("Content-Length", "0")
            asked.end_headers()
            return
        if mode == "down":
            asked.close_connection = True
            asked.connection.close()
            return
        try:
            status, headers, content = self._passed_on(asked, port, body)
        except OSError:
            asked.close_connection = True
            return
        if mode == "lost":
            asked.close_connection = True
            asked.connection.close()
            return
        asked.send_response(status)
        for name, value in headers:
            if name.lower() not in HOP_BY_HOP:
                asked.send_header(name, value)
        asked.send_header("Content-Length", str(len(content)))
        asked.end_headers()
        asked.wfile.write(content)

    def _passed_on(
        self, asked: Any, port: int, body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        there = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {k: v for k, v in asked.headers.items() if k.lower() != "host"}
        there.request(asked.command, asked.path, body, headers)
        answer = there.getresponse()
        content = answer.read()
        there.close()
        return answer.status, answer.getheaders(), content

    def close(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def proxy_before(port: int) -> Iterator[Proxy]:
    """A proxy before the server on `port`."""
    proxy = Proxy(port)
    try:
        yield proxy
    finally:
        proxy.close()
