# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, driven over the pipe of its DevTools protocol (standard library alone)."""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
]
HANG_SECONDS = 60  # against hanging, nothing else


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="npusim-pages-")
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def connect():  # the browser reads descriptor 3 and writes 4
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            ["chromium", *FLAGS, f"--user-data-dir={self.folder}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.events = b"", 0, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.into)
        shutil.rmtree(self.folder, ignore_errors=True)

    def read_message(self, until):
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.into], [], [], left)[0]:
                raise RuntimeError("the browser does not answer")
            chunk = os.read(self.into, 1 << 20)
            if not chunk:
                raise RuntimeError("the browser ended")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if session:
            request["sessionId"] = session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        until = time.monotonic() + HANG_SECONDS
        while True:
            message = self.read_message(until)
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            if "method" in message:
                self.events.append(message)

    def wait_event(self, method, session):
        until = time.monotonic() + HANG_SECONDS
        while not any(e["method"] == method and e.get("sessionId") == session for e in self.events):
            message = self.read_message(until)
            if "method" in message:
                self.events.append(message)


class Page:
    """A file in a tab of its own, at a width, in a colour scheme."""

    def __init__(self, browser, path, width=1280, scheme="light"):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                  deviceScaleFactor=1, mobile=width < 600)
        self.set_scheme(scheme)
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}")
        browser.wait_event("Page.loadEventFired", self.session)

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def set_scheme(self, scheme):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def complaints(self):
        """What the console said, errors, and whatever was asked of any network."""
        self.evaluate("0")
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            parameters = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            elif event["method"] == "Runtime.consoleAPICalled":
                found.append(str([each.get("value") for each in parameters["args"]]))
            elif event["method"] == "Log.entryAdded":
                found.append(parameters["entry"]["text"])
            elif event["method"] == "Network.requestWillBeSent":
                url = parameters["request"]["url"]
                if not url.startswith(("file:", "data:", "blob:")):
                    found.append(f"asked for {url}")
        return found

    def screenshot(self, whole=True):
        return self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]

    def pdf(self):
        return self.call("Page.printToPDF", preferCSSPageSize=True)["data"]

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
