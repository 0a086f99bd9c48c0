"""One attempt of a tool: its commands one after the other, what it said and when, how it ended, its peak memory."""
import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time

# What a process inherits from the one that forks it counts as its own peak: so a small one forks, not this one.
LAUNCHER = """
import json, os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
pid = os.fork()
if pid == 0:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(pid, 0)
told = {"code": os.waitstatus_to_exitcode(status), "peak_kib": usage.ru_maxrss}
os.write(int(sys.argv[1]), json.dumps(told).encode())
"""
MOST_LINES = 20000
TROUBLE = ("error", "failed", "timed out", "timeout", "no matches for kind")


@dataclasses.dataclass
class Line:
    seconds: float  # since the first command began
    text: str


class Attempt:
    """Begins at once, in a thread of its own. It ends with the last command, or with the first that fails; at the latest when
    the `with` around it does."""

    def __init__(self, commands, env, folder):
        self.commands, self.env, self.folder = [[str(word) for word in command] for command in commands], env, folder
        self.lines, self.code, self.peak_mib, self.seconds = [], None, 0.0, None
        self.process, self.stopped, self.guard = None, False, threading.Lock()
        self.began = time.monotonic()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def elapsed(self):
        return time.monotonic() - self.began

    def running(self):
        return self.thread.is_alive()

    def run(self):
        for command in self.commands:
            code = self.run_one(command)
            if code != 0:
                break
        self.code, self.seconds = code, self.elapsed()

    def run_one(self, command):
        told, tell = os.pipe()
        with self.guard:
            if self.stopped:
                return -1
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", LAUNCHER, str(tell), *command], env=self.env, cwd=self.folder,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                pass_fds=[tell], start_new_session=True)
        os.close(tell)
        for text in self.process.stdout:
            if len(self.lines) < MOST_LINES:
                self.lines.append(Line(self.elapsed(), text.rstrip("\n")))
        self.process.stdout.close()
        self.process.wait()
        with os.fdopen(told) as report:
            text = report.read()
        if not text:  # killed
            return -9
        ended = json.loads(text)
        self.peak_mib = max(self.peak_mib, ended["peak_kib"] / 1024)
        return ended["code"]

    def stop(self):
        """As with Ctrl-C, and five seconds later without asking."""
        for number in (signal.SIGINT, signal.SIGKILL):
            with self.guard:
                self.stopped = True
                if self.process and self.process.poll() is None:
                    os.killpg(self.process.pid, number)
            self.thread.join(5)


def last_words(lines):
    """What the user saw in the end: the last line that speaks of a failure, else the last line."""
    said = [line.text.strip() for line in lines if line.text.strip()]
    troubled = [text for text in said if any(word in text.lower() for word in TROUBLE)]
    return (troubled or said or [""])[-1]
