"""A headless chromium, driven over the pipe of its DevTools protocol."""
import base64
import itertools
import json
import os
import subprocess
import tempfile

FLAGS = ["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"]
# What a key is for the browser: its code, and its text if it types one.
KEYS = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35,
        "PageDown": 34, "PageUp": 33, "Tab": 9}


class Browser:
    """One page in a browser of its own. Use it in a `with` statement."""

    def __init__(self, width=1280, height=800, dark=False):
        self.size, self.dark = (width, height), dark
        self.numbers = itertools.count(1)
        self.buffer = b""
        self.events = []

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fairlead-browser-", ignore_cleanup_errors=True)
        to_read, self.to_write = os.pipe()
        self.to_read, to_write = os.pipe()
        command = ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "-", "chromium", *FLAGS,
                   f"--user-data-dir={self.folder.name}", "about:blank"]
        self.process = subprocess.Popen(command, pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        target = self.call("Target.createTarget", url="about:blank", session=None)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True, session=None)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.resize(*self.size)
        self.prefer("dark" if self.dark else "light")
        return self

    def __exit__(self, *_):
        os.close(self.to_write)
        self.process.terminate()
        self.process.wait()
        os.close(self.to_read)
        self.folder.cleanup()

    def receive(self):
        while b"\0" not in self.buffer:
            block = os.read(self.to_read, 1 << 20)
            if not block:
                raise RuntimeError(f"chromium ended with code {self.process.wait()}")
            self.buffer += block
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session="", **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session or self.session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") != number:
                self.events.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            return answer["result"]

    def wait_for(self, method):
        while True:
            for event in self.events:
                if event.get("method") == method:
                    self.events.remove(event)
                    return event["params"]
            self.events.append(self.receive())

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait_for("Page.loadEventFired")
        return self

    def run(self, expression):
        """The value of a JavaScript expression, which may be a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", expression))
        return answer["result"].get("value")

    def texts(self, selector):
        return self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((element) => element.textContent)")

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def click(self, selector):
        x, y = self.run(f"""(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, *names):
        for name in names:
            code = KEYS.get(name, ord(name[0].upper()))
            text = {} if name in KEYS and name != "Enter" else {"text": "\r" if name == "Enter" else name}
            self.call("Input.dispatchKeyEvent", type="keyDown", key=name, windowsVirtualKeyCode=code, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=name, windowsVirtualKeyCode=code)

    def choose(self, selector, value):
        self.run(f"""(() => {{ const element = document.querySelector({json.dumps(selector)}); element.value = {json.dumps(value)};
            element.dispatchEvent(new Event("input", {{bubbles: true}})); }})()""")

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def complaints(self):
        """What the page wrote to the console, what failed in it, and what its policy refused."""
        self.run("1")
        kinds = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        return [event["params"] for event in self.events if event.get("method") in kinds]

    def requests(self):
        """The addresses that the page asked for."""
        self.run("1")
        return [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
