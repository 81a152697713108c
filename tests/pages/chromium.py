"""A Chromium without a window, driven by its DevTools protocol with Python's standard library alone.

Chromium reads commands from file descriptor 3 and writes answers and events to 4
(--remote-debugging-pipe): JSON, each message ended by a zero byte. So there is no port that another
program could take, and no WebSocket to speak.

The protocol: https://chromedevtools.github.io/devtools-protocol
"""

import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import time

NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"]
FLAGS = [
    "--headless",
    "--remote-debugging-pipe",
    # Its pages are ours and run nothing, and in a container or as root its own sandbox does not start.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    # The same pixels on every machine, with grey edges of letters.
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--hide-scrollbars",
]


class BrowserError(Exception):
    """Chromium answers with an error, does not answer, or has ended."""


def FindChromium():
    """The program that $COOPER_CHROMIUM names, else the first of NAMES on PATH, else None."""
    named = os.environ.get("COOPER_CHROMIUM")
    if named:
        if not shutil.which(named):
            raise BrowserError(f"COOPER_CHROMIUM={named}: no such program")
        return named
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    return None


class Browser:
    """One process. `folder` is empty, and takes the profile and what Chromium says."""

    def __init__(self, program, folder):
        self._log = os.path.join(folder, "chromium.log")
        command_read, self._write = os.pipe()
        self._read, answer_write = os.pipe()
        # Out of the way of 3 and 4, which the child makes of them.
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (command_read, answer_write)]
        os.close(command_read)
        os.close(answer_write)

        def Connect():
            os.setsid()  # its children end with it
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                [program, *FLAGS, "--user-data-dir=" + os.path.join(folder, "profile"),
                 "about:blank"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=(3, 4),
                preexec_fn=Connect, env={**os.environ, "HOME": folder, "XDG_RUNTIME_DIR": folder})
        for fd in ends:
            os.close(fd)
        self._received = bytearray()
        self._id = 0
        self.events = []  # not yet taken: dicts with method, params and sessionId

    def Call(self, method, params=None, session=None, timeout=300):
        """The result of a command; events that come meanwhile are kept."""
        self._id += 1
        message = {"id": self._id, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            try:
                data = data[os.write(self._write, data):]
            except BrokenPipeError:
                raise BrowserError(f"Chromium has ended: {self._Said()}") from None
        until = time.monotonic() + timeout
        while True:
            answer = self._Next(until, method)
            if answer.get("id") == self._id:
                break
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']}")
        return answer["result"]

    def WaitFor(self, method, session, timeout=300):
        """The next event of that kind, which is taken."""
        until = time.monotonic() + timeout
        while True:
            for i, event in enumerate(self.events):
                if event["method"] == method and event.get("sessionId") == session:
                    return self.events.pop(i)
            self._Next(until, method)

    def TakeEvents(self, session):
        """All events of a page that were kept."""
        taken = [event for event in self.events if event.get("sessionId") == session]
        self.events = [event for event in self.events if event.get("sessionId") != session]
        return taken

    def OpenTab(self):
        """The session, to give to Call, of a new empty page. One page is seen at a time: the others
        are behind it, and give no pictures."""
        target = self.Call("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self.Call("Target.attachToTarget", {"targetId": target, "flatten": True})
        return attached["sessionId"]

    def Evaluate(self, session, function, *arguments):
        """The value of a JavaScript function of JSON values, called in the page."""
        given = ", ".join(json.dumps(argument) for argument in arguments)
        result = self.Call("Runtime.evaluate",
                           {"expression": f"({function})({given})", "returnByValue": True,
                            "awaitPromise": True}, session)
        if "exceptionDetails" in result:
            raise BrowserError(json.dumps(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    def Close(self):
        """Ends the process and its children."""
        try:
            self.Call("Browser.close", timeout=10)
            self._process.wait(timeout=10)
        except (BrowserError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def _Next(self, until, waiting_for):
        """The next message; an event is kept too."""
        while True:
            end = self._received.find(0)
            if end >= 0:
                message = json.loads(self._received[:end].decode())
                del self._received[:end + 1]
                if "method" in message:
                    self.events.append(message)
                return message
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._read], [], [], left)[0]:
                raise BrowserError(f"Chromium does not answer {waiting_for}: {self._Said()}")
            data = os.read(self._read, 1 << 20)
            if not data:
                raise BrowserError(f"Chromium has ended: {self._Said()}")
            self._received += data

    def _Said(self):
        with open(self._log, "rb") as log:
            return log.read().decode(errors="replace")[-2000:]
