"""Chromium without a window, driven over its debugging protocol by a pair of pipes."""

import base64
import fcntl
import json
import os
import shutil
import subprocess
import time


def find_chromium():
    """The program's path, or None; RHEOS_CHROMIUM names another."""
    return os.environ.get("RHEOS_CHROMIUM") or shutil.which("chromium")


def become_pipes(to_read, to_write):
    """Chromium reads from 3 and writes to 4; runs in the process that becomes it."""
    to_read, to_write = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (to_read, to_write))
    os.dup2(to_read, 3)
    os.dup2(to_write, 4)


class Page:
    """One page, with what it said on its console in `said`."""

    def __init__(self, folder, width=1280, height=800, dark=False):
        to_read, to_write = os.pipe(), os.pipe()
        command = [find_chromium(), "--headless=new", "--no-sandbox", "--disable-gpu"]
        command += ["--no-first-run", "--disable-dev-shm-usage", "--hide-scrollbars"]
        command += [f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank"]
        self.process = subprocess.Popen(
            command,
            close_fds=False,
            preexec_fn=lambda: become_pipes(to_read[0], to_write[1]),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(to_read[0])
        os.close(to_write[1])
        self.output, self.input = os.fdopen(to_read[1], "wb"), os.fdopen(to_write[0], "rb")
        self.number, self.buffer, self.session, self.said = 0, b"", None, []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        if dark:
            features = [{"name": "prefers-color-scheme", "value": "dark"}]
            self.call("Emulation.setEmulatedMedia", features=features)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.output.close()
        self.input.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def message(self):
        while b"\0" not in self.buffer:
            more = os.read(self.input.fileno(), 1 << 20)
            if not more:
                raise RuntimeError("Chromium has ended")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        """The result of a method of the protocol; what happens meanwhile is noted in `said`."""
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        self.output.write(json.dumps(request).encode() + b"\0")
        self.output.flush()
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            name, what = answer.get("method"), answer.get("params", {})
            if name == "Runtime.exceptionThrown":
                self.said.append(json.dumps(what["exceptionDetails"])[:2000])
            elif name == "Log.entryAdded":
                self.said.append(what["entry"]["text"])
            elif name == "Page.javascriptDialogOpening":
                self.said.append("dialog: " + what["message"])

    def resize(self, width, height):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip

    def run(self, script):
        """The value of an expression, awaited where it is a promise."""
        params = {"expression": script, "awaitPromise": True, "returnByValue": True}
        result = self.call("Runtime.evaluate", **params)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:2000])
        return result["result"].get("value")

    def until(self, condition, seconds=30):
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.run(f"Boolean({condition})"):
                return
            time.sleep(0.02)
        raise TimeoutError(f"not within {seconds} s: {condition}; {self.said}")

    def open(self, path):
        self.call("Page.navigate", url=path if "://" in str(path) else f"file://{path}")
        self.until("document.body && document.body.dataset.ready === 'yes'")

    def click(self, selector_script):
        """Clicks the middle of the element that an expression gives, with the mouse."""
        at = self.run(
            f"(() => {{ const r = ({selector_script}).getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind, x=at[0], y=at[1], button="left", buttons=1, clickCount=1,
            )  # fmt: skip

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def picture(self):
        """The bytes of a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot")["data"])
