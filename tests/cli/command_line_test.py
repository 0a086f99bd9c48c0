"""The command line as people and scripts meet it: help, versions, mistakes, exit codes. Needs no cluster."""
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import unittest

FAIRLEAD = os.environ["FAIRLEAD"]


def fairlead(*arguments, stdin="", env=None):
    return subprocess.run([FAIRLEAD, *arguments], input=stdin, capture_output=True, text=True, timeout=60,
                          env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **(env or {})})


class Basics(unittest.TestCase):
    def test_version(self):
        self.assertRegex(fairlead("version").stdout, r"^fairlead \d+\.\d+\.\d+\n$")
        self.assertRegex(json.loads(fairlead("version", "-o", "json").stdout)["version"], r"^\d+\.\d+\.\d+$")

    def test_help_is_no_failure(self):
        for arguments in (["--help"], ["apply", "--help"], ["completion", "-h"], ["help"], ["help", "apply"]):
            with self.subTest(arguments=arguments):
                result = fairlead(*arguments)
                self.assertEqual(result.returncode, 0)
                self.assertIn("Usage:", result.stdout)
                self.assertEqual(result.stderr, "")

    def test_global_flags_may_stand_behind_the_command(self):
        before = fairlead("--context", "nowhere", "apply", "-f", "-", stdin="{}")
        behind = fairlead("apply", "-f", "-", "--context", "nowhere", stdin="{}")
        self.assertEqual(before.stderr, behind.stderr)

    def test_a_wrong_command_line_is_exit_code_64_and_says_what_next(self):
        for arguments, complaint in ((["aply"], "aply"), (["apply"], "--filename"), (["apply", "-f", "x", "--no-such"], "--no-such"),
                                     (["version", "-o", "yml"], "yml"), ([], "command")):
            with self.subTest(arguments=arguments):
                result = fairlead(*arguments)
                self.assertEqual(result.returncode, 64)
                self.assertIn(complaint, result.stderr)
                self.assertRegex(result.stderr, r"\n  next      fairlead.* --help\n$")


class BadManifests(unittest.TestCase):
    def test_broken_yaml_shows_the_line_and_a_caret_and_nothing_is_sent(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "app.yaml"
            path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: [unclosed\n")
            result = fairlead("apply", "-f", str(path))
        self.assertEqual(result.returncode, 1)
        self.assertIn("app.yaml:", result.stderr)
        self.assertIn("^", result.stderr)

    def test_a_file_that_is_not_there(self):
        result = fairlead("apply", "-f", "/no/such/file.yaml")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/no/such/file.yaml", result.stderr)

    def test_bombs_end_quickly(self):
        levels = "\n".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9) if i else 'boom'}]" for i in range(12))
        for bomb in (levels, "[" * 1_000_000, '{"a":' * 1_000_000):
            self.assertEqual(fairlead("apply", "-f", "-", stdin=bomb).returncode, 1)


class BadKubeconfigs(unittest.TestCase):
    OBJECT = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n"

    def test_a_kubeconfig_that_is_not_there(self):
        result = fairlead("apply", "-f", "-", "--kubeconfig", "/no/such/config", stdin=self.OBJECT)
        self.assertEqual(result.returncode, 1)
        self.assertIn("/no/such/config", result.stderr)

    def test_a_server_that_is_not_there(self):
        result = fairlead("apply", "-f", "-", "--server", "https://127.0.0.1:1", stdin=self.OBJECT)
        self.assertEqual(result.returncode, 1)
        self.assertIn("connection refused", result.stderr)


class HostileServers(unittest.TestCase):
    """Whatever a server does, the end is a clear error, soon."""

    def apply_to(self, behave, *flags):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve():
            connections = []  # kept open: who never answers does not hang up either
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                connections.append(connection)
                threading.Thread(target=self.answer, args=(behave, connection), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        return fairlead("apply", "-f", "-", "--server", f"http://127.0.0.1:{listener.getsockname()[1]}", *flags,
                        stdin=BadKubeconfigs.OBJECT)

    @staticmethod
    def answer(behave, connection):
        try:
            while connection.recv(65536):
                behave(connection)
        except OSError:
            pass

    def test_garbage(self):
        result = self.apply_to(lambda connection: connection.sendall(b"\x00\xff this is no HTTP\r\n\r\n"))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^error: .*\n(  because   .*\n)+")

    def test_json_that_is_none(self):
        body = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"items\":"
        result = self.apply_to(lambda connection: connection.sendall(body))
        self.assertEqual(result.returncode, 1)
        self.assertIn("JSON", result.stderr)

    def test_a_cut_answer(self):
        def cut(connection):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
            connection.shutdown(socket.SHUT_RDWR)
        self.assertEqual(self.apply_to(cut).returncode, 1)

    def test_429_for_ever(self):
        busy = b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nlong"
        result = self.apply_to(lambda connection: connection.sendall(busy))
        self.assertEqual(result.returncode, 1)
        self.assertIn("429", result.stderr)

    def test_no_answer_at_all(self):
        result = self.apply_to(lambda connection: None, "--request-timeout=1s")
        self.assertEqual(result.returncode, 3)
        self.assertEqual(result.stderr, "error: GET /api failed\n  because   the API server did not answer within 1000 ms\n")


unittest.main()
