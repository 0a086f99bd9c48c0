"""fairlead retry on the sandbox: what is run again and what is not, exit codes, signals, and how output and input pass through."""
import hashlib
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import time
import unittest

from tests.cli.on_sandbox import FAIRLEAD, OnSandbox
from tests.scripts.server import Server
from tests.scripts.webhooks import Webhooks

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]
# Stores an object that the webhook guards, and fails as kubectl does.
INSTALLER = """
import os, sys, time
from tests.scripts.server import Server
print("installing", flush=True)
with open("began", "a") as began:
    print(time.time(), file=began)
config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "guarded"}}
status, answer = Server(os.environ["KUBECONFIG"]).json("POST", "/api/v1/namespaces/default/configmaps", config)
if status != 201:
    print("Error from server (InternalError):", answer["message"], file=sys.stderr)
    sys.exit(4)
print("installed")
"""
# Ends in good order when it is told to, with the child that it started.
HEEDFUL = """
import signal, subprocess, sys, time
child = subprocess.Popen(["sleep", "600"])
def end(number, _):
    print(f"heard {number}, sleep ended with {child.wait()}", flush=True)
    sys.exit(5)
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, end)
print("up", flush=True)
while True:
    time.sleep(0.05)
"""
HEEDLESS = """
import signal, time
signal.signal(signal.SIGTERM, lambda *_: print("heard", flush=True))
print("up", flush=True)
while True:
    time.sleep(0.05)
"""
# Counts how often it hears of Ctrl-C until a line is typed.
COUNTING = """
import signal, sys
heard = []
def count(*_):
    heard.append(1)
    print("heard", flush=True)
signal.signal(signal.SIGINT, count)
print("up", flush=True)
sys.stdin.readline()
print("times:", len(heard), flush=True)
sys.exit(1)
"""
BUSY = "webhook guard.example.com answered that it cannot serve the request now (the server is currently unable to handle the request)"


class Retry(OnSandbox):
    def setUp(self):
        super().setUp()
        self.env["PYTHONPATH"] = str(ROOT)
        (self.folder / "installer.py").write_text(INSTALLER)
        self.installer = [sys.executable, "installer.py"]

    def retry(self, *arguments, code=0, stdin=""):
        return self.fairlead("retry", *arguments, code=code, stdin=stdin)

    def start(self, *arguments, **options):
        return subprocess.Popen([FAIRLEAD, "retry", *arguments], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def guard(self):
        """A webhook that says that it is busy, until it is told otherwise."""
        hooks = Webhooks()
        self.addCleanup(hooks.close)
        hooks.set("guard", {"status": 503})
        hook = {"name": "guard.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "rules": RULES,
                "clientConfig": {"url": hooks.url("guard"), "caBundle": hooks.ca},
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}}
        self.store("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
                   {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                    "metadata": {"name": "guards"}, "webhooks": [hook]})
        return hooks

    def store(self, path, value):
        status, answer = Server(self.env["KUBECONFIG"]).json("POST", path, value)
        self.assertEqual(status, 201, answer)

    def test_a_race_that_is_lost_and_then_won(self):
        hooks = self.guard()
        process = self.start("--delay", "5m", "--journal", "journal", "--", *self.installer)
        told = []
        for line in process.stderr:
            told.append(line)
            if line.startswith("fairlead: waiting"):
                hooks.set("guard", {})
                works = time.time()
        self.assertEqual((process.wait(timeout=60), process.stdout.read()), (0, "installing\ninstalling\ninstalled\n"), told)
        process.stdout.close()
        process.stderr.close()
        python = pathlib.Path(sys.executable).name
        self.assertEqual(told[1:3], [f"fairlead: {python} failed with exit status 4: {BUSY}\n",
                                     "fairlead: waiting up to 5m for webhook guard.example.com in context sandbox\n"])
        self.assertRegex(told[-2], rf"^fairlead: webhook guard.example.com works after [\d.]+s: running {python} again \(retry 1 of 3\)\n$")
        self.assertEqual(sum(BUSY in line for line in told), 1, told)
        self.assertRegex(told[-1], r"^fairlead: done after 1 retry in [\d.]+s\n$")
        events = [json.loads(line) for line in (self.folder / "journal").read_text().splitlines()]
        proved = [one["seconds"] for one in events if one["event"] == "ready"]
        runs = [one["seconds"] for one in events if one.get("state") == "running"]
        self.assertEqual([len(proved), len(runs)], [1, 2])
        late = float((self.folder / "began").read_text().splitlines()[1]) - works
        print(f"the second run began {late:.3f} s after the webhook worked, {runs[1] - proved[0]:.3f} s after the proof")
        self.assertEqual([one["exitCode"] for one in events[-1]["details"]["attempts"]], [4, 0])
        left = Server(self.env["KUBECONFIG"]).json("GET", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations")
        self.assertEqual([one["metadata"]["name"] for one in left[1]["items"]], ["guards"])

    def test_retries_come_to_an_end(self):
        self.guard()
        result = self.retry("--retries", "1", "--delay", "0s", "-o", "quiet", "--", *self.installer, code=4)
        self.assertEqual(result.stdout, "installing\n" * 2)
        self.assertTrue(result.stderr.endswith(f"error: {pathlib.Path(sys.executable).name} failed 2 times\n  because   {BUSY}\n"
                                               "  next      fairlead doctor webhook guard.example.com\n"), result.stderr)

    def test_anything_else_fails_at_once(self):
        result = self.retry("--", "sh", "-c", "echo out; echo no luck >&2; exit 7", code=7)
        self.assertEqual((result.stdout, result.stderr),
                         ("out\n", "no luck\nerror: sh failed with exit status 7, and is not retried\n"
                          "  because   its output names no webhook, CRD or API that is not there yet\n"))
        # It needs no cluster.
        self.env["KUBECONFIG"] = "/nonexistent"
        self.assertEqual(self.retry("--", "echo", "-n", "x").stdout, "x")

    def test_a_command_that_cannot_be_started(self):
        self.assertEqual(self.retry("--", "no-such-tool", code=127).stderr,
                         "error: exec: executable no-such-tool not found\n"
                         "  next      install no-such-tool, or add the folder that it is in to PATH\n")
        self.retry("--", "/etc/passwd", code=126)
        self.assertEqual(self.retry("--", "sh", "-c", "kill -9 $$", code=137).stderr,
                         "error: sh failed with signal 9 (Killed), and is not retried\n"
                         "  because   it was killed from outside; the kernel does that when memory runs out\n")

    def test_wrong_command_lines(self):
        nothing: list[str] = []
        for arguments, words in ((nothing, "nothing says which command to run"), (["--"], "nothing says which command to run"),
                                 (["helm", "list"], "has to come after it"), (["--delay", "soon", "--", "true"], "is not a duration"),
                                 (["--retries", "-1", "--", "true"], "--retries")):
            with self.subTest(arguments):
                self.assertIn(words, self.retry(*arguments, code=64).stderr)

    def test_a_pending_helm_release_is_named(self):
        labels = {"owner": "helm", "name": "shop", "status": "pending-upgrade", "version": "2"}
        self.store("/api/v1/namespaces/default/secrets", {"apiVersion": "v1", "kind": "Secret", "type": "helm.sh/release.v1",
                                                         "metadata": {"name": "sh.helm.release.v1.shop.v2", "labels": labels}})
        text = "Error: UPGRADE FAILED: another operation (install/upgrade/rollback) is in progress"
        result = self.retry("--", "sh", "-c", f"echo '{text}' >&2; exit 1", code=1)
        self.assertEqual(result.stderr, f"{text}\nerror: sh failed with exit status 1, and is not run again\n"
                         "  because   Helm release default/shop is pending-upgrade (revision 2)\n"
                         "  next      helm -n default rollback shop; but only if no other helm is working on it\n")

    def test_signals_reach_the_command_and_what_it_started(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                process = self.start("--", sys.executable, "-c", HEEDFUL)
                self.assertEqual(process.stdout.readline(), "up\n")
                process.send_signal(number)
                self.assertEqual(process.communicate(timeout=60), (f"heard {int(number)}, sleep ended with {-number}\n",
                                                                   "error: interrupted\n"))
                self.assertEqual(process.returncode, 130)

    def test_a_command_that_heeds_no_signal_is_killed_in_the_end(self):
        process = self.start("--", sys.executable, "-c", HEEDLESS)
        self.assertEqual(process.stdout.readline(), "up\n")
        for _ in range(2):
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.stdout.readline(), "heard\n")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.communicate(timeout=60), ("", "error: interrupted\n"))
        self.assertEqual(process.returncode, 130)

    def test_an_interruption_while_it_waits(self):
        self.guard()
        process = self.start("--delay", "5m", "--", *self.installer)
        for line in process.stderr:
            if line.startswith("fairlead: waiting"):
                break
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors.splitlines()[-1]), (130, "error: interrupted"))

    def test_the_time_is_over(self):
        result = self.retry("--timeout", "1s", "--", "sleep", "600", code=3)
        self.assertEqual(result.stderr, "error: sleep was stopped after 1s (--timeout)\n")

    def test_input_is_given_to_each_run(self):
        hooks = self.guard()
        script = "import sys; print(sys.stdin.read(), end='', flush=True)\n" + INSTALLER
        (self.folder / "installer.py").write_text(script)
        hooks.set("guard", {"status": 503})
        process = subprocess.Popen([FAIRLEAD, "retry", "--", *self.installer, "-"], cwd=self.folder, env=self.env, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdin.write("manifest\n")
        process.stdin.close()
        for line in process.stderr:
            if line.startswith("fairlead: waiting"):
                hooks.set("guard", {})
        self.assertEqual(process.stdout.read(), "manifest\ninstalling\nmanifest\ninstalling\ninstalled\n")
        self.assertEqual(process.wait(timeout=60), 0)
        process.stdout.close()
        process.stderr.close()
        self.assertEqual(self.retry("--", "cat", stdin="all of it").stdout, "all of it")

    def test_any_bytes_pass_through(self):
        data = os.urandom(3_000_000)
        (self.folder / "data").write_bytes(data)
        result = subprocess.run([FAIRLEAD, "retry", "--", "sh", "-c", "cat data; cat data >&2; exit 9"], cwd=self.folder, env=self.env,
                                stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        self.assertEqual((result.returncode, hashlib.sha256(result.stdout).digest()), (9, hashlib.sha256(data).digest()))
        self.assertTrue(result.stderr.startswith(data))

    def test_output_that_nobody_reads(self):
        result = subprocess.run(["bash", "-c", f"{FAIRLEAD} retry -- yes | head -1; echo ${{PIPESTATUS[0]}}"], env=self.env,
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(result.stdout, "y\n141\n")
        with open("/dev/full", "w") as full:
            result = subprocess.run([FAIRLEAD, "retry", "--", "echo", "lost"], stdout=full, stderr=subprocess.PIPE, text=True, env=self.env)
        self.assertEqual((result.returncode, result.stderr),
                         (1, "error: the output of the command could not be written completely\n  because   No space left on device\n"))

    def test_what_it_leaves_in_the_background_is_not_waited_for(self):
        self.assertEqual(self.retry("--", "sh", "-c", "sleep 600 & echo done; echo $! > pid").stdout, "done\n")
        os.kill(int((self.folder / "pid").read_text()), signal.SIGKILL)

    def test_on_a_terminal_the_command_has_one_too(self):
        ours, theirs = pty.openpty()
        script = "test -t 1 && test -t 2 && echo both; test -t 0 || echo not the input"
        process = subprocess.Popen([FAIRLEAD, "retry", "--", "sh", "-c", script], env=self.env, stdin=subprocess.DEVNULL, stdout=theirs,
                                   stderr=theirs)
        os.close(theirs)
        text = b""
        while b"input" not in text:
            text += os.read(ours, 1000)
        os.close(ours)
        self.assertEqual((process.wait(timeout=60), text.replace(b"\r", b"")), (0, b"both\nnot the input\n"))

    def test_ctrl_c_on_a_terminal_is_heard_once(self):
        # Terraform takes a second one for an order to drop everything.
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(FAIRLEAD, [FAIRLEAD, "retry", "--", sys.executable, "-c", COUNTING], self.env)
        text = b""
        for awaited, typed in ((b"up", b"\x03"), (b"heard", b"go on\n"), (b"error: interrupted", b"")):
            while awaited not in text:
                text += os.read(terminal, 1000)
            os.write(terminal, typed)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 130)
        os.close(terminal)
        self.assertIn(b"times: 1\r\n", text)

    def test_completion(self):
        self.assertIn("--retries", self.fairlead("__complete", "--", "retry", "--").stdout)


if __name__ == "__main__":
    unittest.main()
