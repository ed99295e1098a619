"""Chromium without a window, spoken to through a pair of pipes: no driver, no port, no further package."""

import base64
import json
import os
import shutil
import subprocess
import time

EXECUTABLE = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-extensions", "--remote-debugging-pipe", "--mute-audio",
)  # fmt: skip

PATIENCE = 120.0
"""Seconds that an answer may take."""


class Chromium:
    """One tab. Collects what the page logs as errors and every address that it asks for."""

    def __init__(self, profile):
        commands, self._to = os.pipe()
        self._from, events = os.pipe()
        command = [EXECUTABLE, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        # The browser reads from 3 and writes to 4, which only a shell can put there.
        shell = f'exec "$@" 3<&{commands} 4>&{events}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command], pass_fds=(commands, events), stderr=subprocess.DEVNULL
        )
        os.close(commands)
        os.close(events)
        os.set_blocking(self._from, False)
        self._buffer, self._count, self._session = b"", 0, None
        self.errors, self.requests, self._loaded = [], [], False
        target = self.send("Target.getTargets")["targetInfos"]
        page = next(info["targetId"] for info in target if info["type"] == "page")
        self._session = self.send("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method, **params):
        """A command's answer; events that come before it are noted."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        return self._until(lambda answer: answer.get("id") == self._count)["result"]

    def _until(self, wanted):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            while b"\0" in self._buffer:
                text, self._buffer = self._buffer.split(b"\0", 1)
                message = json.loads(text)
                self._note(message)
                if wanted(message):
                    if "error" in message:
                        raise RuntimeError(message["error"])
                    return message
            try:
                self._buffer += os.read(self._from, 1 << 20)
            except BlockingIOError:
                time.sleep(0.01)
        raise TimeoutError("Chromium does not answer.")

    def _note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            self.errors.append(str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True

    def open(self, path, *, width=1280, height=900, dark=False):
        """Show a file, without a network, in a window of a given width."""
        self.errors, self.requests, self._loaded = [], [], False
        self.send("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", media="screen", features=[scheme])
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.send("Page.navigate", url=path.as_uri())
        if not self._loaded:
            self._until(lambda message: message.get("method") == "Page.loadEventFired")

    def run(self, script):
        """The value of a JavaScript expression, awaited."""
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def hover(self, selector):
        """Move the mouse over the middle of an element."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{element}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        self.run("new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
        box = self.run(f"{element}.getBoundingClientRect().toJSON()")
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key):
        """A key, pressed and released."""
        codes = {"Tab": 9, "ArrowRight": 39, "ArrowLeft": 37, "ArrowUp": 38, "ArrowDown": 40, "Escape": 27}
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=codes[key])

    def screenshot(self, path, *, whole=True):
        """A PNG of the page, or of the part in the window."""
        data = self.send("Page.captureScreenshot", captureBeyondViewport=whole, **self._clip(whole))["data"]
        path.write_bytes(base64.b64decode(data))

    def _clip(self, whole):
        if not whole:
            return {}
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {**size, "scale": 1}}

    def close(self):
        """End the browser."""
        os.close(self._to)
        os.close(self._from)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
