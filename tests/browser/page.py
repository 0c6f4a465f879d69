"""A page opened in a real browser, spoken to through a pipe (DevTools protocol)."""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
    "--disable-dev-shm-usage",  # containers often have too little of it
    "--remote-debugging-pipe",
)
PATIENCE = 180.0  # s for an answer on a busy machine


class BrowserError(AssertionError):
    """A command failed, or was not answered."""


def program() -> str:
    """The browser; a test fails without one."""
    found = [path for name in PROGRAMS if (path := shutil.which(name))]
    if not found:
        raise FileNotFoundError("no Chromium: apt-get install chromium")
    return found[0]


class Page:
    """One page, and what its console complained about."""

    def __init__(self, send: int, receive: int) -> None:
        self._send = send
        self._receive = os.fdopen(receive, "rb", buffering=0)
        self._number = 0
        self._rest = b""
        self._session: str | None = None
        self.problems: list[str] = []

    def open(self, path: Path) -> None:
        """Load the file and wait for its load event."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        self.ask("Page.navigate", url=path.as_uri())
        self.run(
            "while (location.protocol === 'about:'"
            " || document.readyState !== 'complete')"
            " await new Promise(r => setTimeout(r, 20));"
        )

    def close(self) -> None:
        """Let the pipe go."""
        self._receive.close()

    def run(self, script: str) -> Any:
        """Value of the body of an async function, run in the page."""
        answer = self.ask(
            "Runtime.evaluate",
            expression=f"(async () => {{ {script} }})()",
            awaitPromise=True,
            returnByValue=True,
        )
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """Press and release the mouse on the middle of an element that is in view."""
        x, y = self.run(
            f"const b = document.querySelector({json.dumps(selector)})"
            ".getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2];"
        )
        assert 0 <= y <= self.run("return innerHeight;"), f"{selector} is not in view"
        self._press((x, y), (x, y))

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press, move and release the mouse."""
        self._press(start, end)

    def _press(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        places = {"mousePressed": start, "mouseMoved": end, "mouseReleased": end}
        for kind, (x, y) in places.items():
            self.ask(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left",
                buttons=1,
                clickCount=1,
            )

    @contextlib.contextmanager
    def inner_frame(self) -> Iterator[None]:
        """Speak to the sandboxed frame of the page, which has a process of its own."""
        page = self._session
        began = time.monotonic()
        try:
            while not self._in_loaded_frame():
                if time.monotonic() - began > PATIENCE:
                    raise BrowserError(f"no frame was loaded in {PATIENCE:g} s")
                time.sleep(0.1)
            yield
        finally:
            self._session = page

    def _in_loaded_frame(self) -> bool:
        """Whether a frame was attached to that is through with loading.

        One that is still to leave about:blank may change its process, and what was
        asked of the old one is never answered; so the first question has little time.
        """
        self._session = None
        targets = self.ask("Target.getTargets")["targetInfos"]
        frames = [
            t for t in targets if t["type"] == "iframe" and t["url"].startswith("blob:")
        ]
        if not frames:  # the browser's own new page has a frame as well
            return False
        frame = frames[0]["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=frame, flatten=True)
        self._session = attached["sessionId"]
        try:
            for domain in ("Runtime", "Log"):
                self.ask(f"{domain}.enable", patience=5.0)
            value = self.ask("Runtime.evaluate", 5.0, expression="document.readyState")[
                "result"
            ].get("value")
        except BrowserError:
            return False
        return bool(value == "complete")

    def dark(self) -> None:
        """Ask for the dark colours."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark"}]
        self.ask("Emulation.setEmulatedMedia", features=scheme)

    def picture(self, target: Path, selector: str = "") -> None:
        """Save what is to be seen, of the whole window or of one element."""
        part = {}
        if selector:
            part["clip"] = self.run(
                f"const b = document.querySelector({json.dumps(selector)})"
                ".getBoundingClientRect(); return {x: b.x + scrollX, y: b.y + scrollY,"
                " width: b.width, height: b.height, scale: 1};"
            )
        data = self.ask("Page.captureScreenshot", **part)["data"]
        target.write_bytes(base64.b64decode(data))

    def ask(
        self, method: str, patience: float = PATIENCE, **parameters: Any
    ) -> dict[str, Any]:
        """Send one command and wait for its answer, at most `patience` seconds."""
        end = time.monotonic() + patience
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next(end, method)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _next(self, end: float, method: str) -> dict[str, Any]:
        while b"\0" not in self._rest:
            left = max(0.0, end - time.monotonic())
            if not select.select([self._receive], [], [], left)[0]:
                raise BrowserError(f"{method} was not answered")
            more = self._receive.read(1 << 20)
            if not more:
                raise BrowserError("the browser has gone")
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def _note(self, event: dict[str, Any]) -> None:
        given = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            thrown = given["exceptionDetails"].get("exception", {})
            said = thrown.get("description") or thrown.get("value")
            self.problems.append(str(said or given["exceptionDetails"])[:1500])
        if (
            event.get("method") == "Runtime.consoleAPICalled"
            and given["type"] == "error"
        ):
            self.problems.append(json.dumps(given["args"])[:500])
        if (
            event.get("method") == "Log.entryAdded"
            and given["entry"]["level"] == "error"
        ):
            self.problems.append(given["entry"]["text"])


@contextlib.contextmanager
def opened(path: Path, width: int = 1280, height: int = 1000) -> Iterator[Page]:
    """A browser with `path` open; it is ended with the block."""
    to_browser, from_browser = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        line = [
            program(),
            *FLAGS,
            f"--window-size={width},{height}",
            f"--user-data-dir={profile}",
        ]

        def connect() -> None:
            """The browser reads descriptor 3 and writes descriptor 4."""
            ends = (to_browser[0], from_browser[1])
            spare = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in ends]
            for place, end in zip((3, 4), spare, strict=True):
                os.dup2(end, place)

        running = subprocess.Popen(
            line, pass_fds=(3, 4), preexec_fn=connect, stderr=subprocess.DEVNULL
        )
        os.close(to_browser[0])
        os.close(from_browser[1])
        page = Page(to_browser[1], from_browser[0])
        try:
            page.open(path)
            yield page
        finally:
            running.terminate()
            running.wait(20)
            os.close(to_browser[1])
            page.close()
