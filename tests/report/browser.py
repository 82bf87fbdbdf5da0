"""A headless Chromium, driven over its debugging pipe: no library is needed for that."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    """Path of a browser, or None. $PARALLAX_BROWSER names one."""
    named = os.environ.get("PARALLAX_BROWSER")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """Opens pages at given sizes and tells what they complain about."""

    def __init__(self, path):
        down, self.to_browser = os.pipe()
        self.from_browser, up = os.pipe()
        self.profile = tempfile.mkdtemp(prefix="parallax-browser-")

        def hand_over():  # the browser reads its commands from 3 and answers on 4
            os.dup2(down, 103)
            os.dup2(up, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self.process = subprocess.Popen(
            [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
             "--force-prefers-reduced-motion", "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=hand_over, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(down)
        os.close(up)
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        shutil.rmtree(self.profile, ignore_errors=True)

    def read(self):
        while b"\0" not in self.rest:
            piece = os.read(self.from_browser, 1 << 20)
            if not piece:
                raise RuntimeError("the browser is gone")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def open(self, path, width, height=900, dark=False, media=""):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        url = "file://" + os.path.abspath(path)
        if self.value("location.href") != url:  # else the page follows what changed
            self.call("Page.navigate", url=url)
        deadline = time.monotonic() + 30
        while self.value("document.readyState") != "complete" or self.value("document.documentElement.dataset.ready") != "yes":
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        self.value("new Promise((done) => setTimeout(done, 300))")  # what is drawn a moment later

    def complaints(self):
        """Exceptions, errors on the console, and everything the page asked the network for."""
        found, events, self.events = [], self.events, []
        for event in events:
            method, p = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(p["exceptionDetails"].get("exception", {}).get("description", str(p)))
            elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
                found.append(f"console: {p['args']}")
            elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                found.append(f"log: {p['entry']['text']}")
            elif method == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "data:", "about:")):
                found.append(f"network: {p['request']['url']}")
        return found

    def shot(self, path, whole=True):
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **({} if not whole else {
            "clip": {"x": 0, "y": 0, "scale": 1, "width": self.value("document.documentElement.clientWidth"),
                     "height": min(self.value("document.documentElement.scrollHeight"), 12000)}}))
        with open(path, "wb") as to:
            to.write(base64.b64decode(picture["data"]))
