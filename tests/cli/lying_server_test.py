"""Servers that mean no good: whatever they do, a run ends at its time-out, and credentials reach no text."""
import itertools
import json
import os
import pathlib
import signal
import stat
import subprocess
import tempfile
import time
import unittest

from tests.cli.lying_server import FAIRLEAD, LyingServer

MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"key": "value"}}
DEPLOYMENT = {
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
    "spec": {"selector": {"matchLabels": {"app": "web"}},
             "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}}
TOKEN = "a-token-that-nobody-may-see"


def is_watch(path):
    return "watch=true" in path


class Lies(unittest.TestCase):
    def setUp(self):
        self.server = LyingServer()
        self.addCleanup(self.server.end)

    def start(self, *arguments, objects=(MAP,), **more):
        process = subprocess.Popen([FAIRLEAD, arguments[0], "--server", self.server.address, "--insecure-skip-tls-verify", *arguments[1:]],
                                   stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"}, **more)
        process.stdin.write("\n---\n".join(json.dumps(one) for one in objects))
        process.stdin.close()
        process.stdin = None
        return process

    def end(self, process):
        """Exit code, standard output and errors. The limit is for a run that would never end."""
        try:
            output, errors = process.communicate(timeout=90)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.fail("it does not end")
        return process.returncode, output, errors

    def run_it(self, *arguments, **more):
        return self.end(self.start(*arguments, **more))


class Timeouts(Lies):
    APPLY = ("apply", "-f", "-", "--timeout", "2s")

    def test_the_truth(self):
        code, _, errors = self.run_it("apply", "-f", "-", "--timeout", "60s", objects=(MAP, DEPLOYMENT))
        self.assertEqual(code, 0, errors)

    def test_no_answer_before_anything_was_sent(self):
        self.server.lie = lambda request, method, path: path.startswith("/apis") and request.say_nothing()
        for command in (self.APPLY, (*self.APPLY, "--name", "shop"), ("delete", "-f", "-", "--timeout", "2s"),
                        ("delete", "--name", "shop", "--timeout", "2s")):
            with self.subTest(command=command):
                code, _, errors = self.run_it(*command)
                self.assertEqual(code, 3, errors)
                self.assertRegex(errors, r"error: the cluster could not be read within 2s; nothing was (applied|deleted)")
                self.assertIn("  next      kubectl get --raw /readyz?verbose", errors)

    def test_a_wait_ends_whatever_the_server_does(self):
        def broken(request, method, path):
            return request.answer({"kind": "Status", "code": 500, "message": "the storage is broken"}, status=500)
        wait = ("wait", "deploy/web", "--timeout", "2s")
        webhook = ("wait", "webhook/x", "--timeout", "2s", "--allow-short")
        for command, part in ((wait, "/deployments"), (webhook, "/validatingwebhookconfigurations"), (wait, "/api")):
            for silent in (True, False):
                if part == "/api" and not silent:
                    continue  # nothing is waited for then: the error is told at once
                with self.subTest(command=command, part=part, silent=silent):
                    self.server.lie = lambda request, method, path: part in path and (
                        request.say_nothing() if silent else broken(request, method, path))
                    code, _, errors = self.run_it(*command)
                    self.assertEqual(code, 3, errors)
                    self.assertIn(" could not be read within ", errors)
                    self.assertIn("  next      kubectl get --raw /readyz?verbose", errors)

    def test_a_pipeline_ends_with_its_wait(self):
        self.server.lie = lambda request, method, path: "/deployments" in path and request.say_nothing()
        with tempfile.TemporaryDirectory() as folder:
            pipeline = pathlib.Path(folder) / "p.yaml"
            pipeline.write_text("{kubernetesEvents: false, phases: [{name: a, steps: [{wait: deploy/web, timeout: 2s}]}]}")
            code, _, errors = self.run_it("run", str(pipeline))
        self.assertEqual(code, 3, errors)
        self.assertIn("Deployment default/web could not be read within ", errors)

    def test_doctor_says_what_was_not_answered(self):
        self.server.lie = lambda request, method, path: "/pods" in path and request.say_nothing()
        code, output, errors = self.run_it("doctor")
        self.assertEqual(code, 0, errors)
        self.assertEqual(output, "no problems found in what could be read (1 part of the cluster could not be)\n")
        self.assertEqual(errors, "note: could not be read: pods: the API server did not answer within 10s\n")

    def test_retry_ends_with_its_timeout(self):
        self.server.lie = lambda request, method, path: "/api" in path and request.say_nothing()
        text = ('Error from server (InternalError): Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: '
                'Post "https://hook.default.svc:443/v?timeout=10s": dial tcp 10.0.0.1:443: connect: connection refused')
        code, _, errors = self.run_it("retry", "--timeout", "2s", "--", "sh", "-c", f"echo '{text}' >&2; exit 7")
        self.assertEqual(code, 3, errors)

    def test_no_answer_to_a_write(self):
        self.server.lie = lambda request, method, path: method in ("PATCH", "DELETE") and request.say_nothing()
        for command in (self.APPLY, (*self.APPLY, "--no-wait")):
            code, _, errors = self.run_it(*command)
            self.assertEqual(code, 3, errors)
            self.assertIn("ConfigMap default/settings", errors)
        self.server.lie = None
        self.assertEqual(self.run_it("apply", "-f", "-")[0], 0)
        self.server.lie = lambda request, method, path: method == "DELETE" and request.say_nothing()
        code, _, errors = self.run_it("delete", "-f", "-", "--timeout", "2s")
        self.assertEqual(code, 3, errors)
        self.assertIn("ConfigMap default/settings", errors)

    def test_an_answer_that_drips(self):
        def drip(request, method, path):
            if not path.startswith("/api/v1/namespaces?"):
                return False
            request.begin()
            for byte in itertools.cycle(b" "):
                request.send_piece(bytes([byte]))
                time.sleep(0.05)
        self.server.lie = drip
        code, _, errors = self.run_it(*self.APPLY)
        self.assertEqual(code, 3, errors)

    def test_a_list_without_end(self):
        pages = itertools.count()

        def go_on(request, method, path):
            page = {"metadata": {"resourceVersion": "1", "continue": f"page-{next(pages)}"},
                    "items": [{"metadata": {"name": "x" * 200}}] * 500}
            return path.startswith("/api/v1/namespaces?") and request.answer(page)
        self.server.lie = go_on
        code, _, errors = self.run_it(*self.APPLY)
        self.assertIn(code, (1, 3), errors)  # its time or the most that a list may have, whichever comes first

    def test_a_list_that_goes_in_circles(self):
        page = {"metadata": {"resourceVersion": "1", "continue": "the same again"}, "items": []}
        self.server.lie = lambda request, method, path: path.startswith("/api/v1/namespaces?") and request.answer(page)
        code, _, errors = self.run_it("apply", "-f", "-")
        self.assertEqual(code, 1, errors)
        self.assertIn("does not end: a page refers to one that was read before", errors)

    def test_a_watch_that_never_stops_talking(self):
        def chatter(request, method, path):
            if not is_watch(path) or "/deployments" not in path:
                return False
            request.begin()
            _, changed = self.server.upstream.json("GET", "/apis/apps/v1/namespaces/default/deployments/web")
            changed["status"] = {}
            for version in itertools.count(1000000):
                changed["metadata"]["resourceVersion"] = str(version)
                request.send_piece(json.dumps({"type": "MODIFIED", "object": changed}).encode() + b"\n")
        self.server.lie = chatter
        code, _, errors = self.run_it(*self.APPLY, objects=(DEPLOYMENT,))
        self.assertEqual(code, 3, errors)
        self.assertIn("Deployment default/web", errors)

    def test_no_answer_when_the_claim_is_given_back(self):
        done = []

        def hold(request, method, path):
            if method == "PATCH" and "/configmaps/settings" in path:
                done.append(path)
            return bool(done) and method != "GET" and "/configmaps/settings" not in path and request.say_nothing()
        self.server.lie = hold
        code, _, errors = self.run_it(*self.APPLY, "--name", "shop")
        self.assertIn(code, (0, 3), errors)
        self.assertIn("the claim of the bundle could not be released", errors)

    def test_an_interrupted_run_does_not_wait_for_a_silent_server(self):
        self.server.lie = lambda request, method, path: method == "PATCH" and request.say_nothing()
        process = self.start("apply", "-f", "-")
        self.assertTrue(self.server.silent.wait(60))
        process.send_signal(signal.SIGINT)
        code, _, errors = self.end(process)
        self.assertEqual(code, 130, errors)


class Credentials(Lies):
    """A server, or a proxy in front of it, that quotes the credentials that it was given."""

    def quote(self, request, method, path):
        header = request.headers.get("Authorization", "none")
        if path.startswith("/api/v1/namespaces/default/configmaps") and method == "PATCH":
            status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403, "reason": "Forbidden",
                      "message": f"configmaps is forbidden: header {header} is not allowed"}
            return request.answer(status, 403, [("Warning", f'299 - "you sent {header}"')])
        return False

    def assert_hidden(self, *flags, env=None):
        self.server.lie = self.quote
        with tempfile.TemporaryDirectory() as folder:
            journal = pathlib.Path(folder) / "journal"
            for output in ("text", "json", "jsonl"):
                code, printed, errors = self.run_it("apply", "-f", "-", "--timeout", "20s", "-o", output, "-v", "9",
                                                    "--journal", str(journal), *flags)
                self.assertEqual(code, 1, errors)
                for text in (printed, errors, journal.read_text()):
                    self.assertNotIn(TOKEN, text)
                self.assertIn("Bearer ***", printed + errors + journal.read_text())

    def test_a_token(self):
        self.assert_hidden("--token", TOKEN)

    def test_the_token_of_a_plugin(self):
        with tempfile.TemporaryDirectory() as folder:
            plugin = pathlib.Path(folder) / "plugin"
            plugin.write_text("#!/bin/sh\ncat <<'END'\n" + json.dumps(
                {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": TOKEN}}) + "\nEND\n")
            plugin.chmod(stat.S_IRWXU)
            config = pathlib.Path(folder) / "config"
            config.write_text(json.dumps({
                "apiVersion": "v1", "kind": "Config", "current-context": "c",
                "clusters": [{"name": "c", "cluster": {"server": self.server.address, "insecure-skip-tls-verify": True}}],
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "users": [{"name": "u", "user": {"exec": {
                    "apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin), "interactiveMode": "Never"}}}]}))
            self.assert_hidden("--kubeconfig", str(config))


if __name__ == "__main__":
    unittest.main()
