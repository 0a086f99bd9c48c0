"""The command line as people and scripts meet it: help, versions, mistakes, exit codes. Needs no cluster."""
import base64
import http.server
import json
import os
import pathlib
import re
import signal
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
        # Without git, there is no commit to be told.
        self.assertRegex(fairlead("version").stdout, r"^fairlead \d+\.\d+\.\d+(-[\w.]+)?( \(commit [0-9a-f]{12}(-dirty)? of "
                                                     r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\))?\n$")
        told = json.loads(fairlead("version", "-o", "json").stdout)
        self.assertRegex(told["version"], r"^\d+\.\d+\.\d+(-[\w.]+)?$")
        self.assertRegex(told["commit"], r"^([0-9a-f]{40}(-dirty)?)?$")
        self.assertEqual(told["buildDate"] == "", told["commit"] == "")

    def test_a_plugin_of_kubectl_has_another_name_in_its_help(self):
        with tempfile.TemporaryDirectory() as folder:
            plugin = pathlib.Path(folder) / "kubectl-fairlead"
            plugin.symlink_to(FAIRLEAD)

            def run(*arguments):
                return subprocess.run([plugin, *arguments], capture_output=True, text=True, timeout=60)

            for arguments in (["--help"], ["apply", "--help"], ["run", "status", "--help"], ["completion", "--help"]):
                usual, named = fairlead(*arguments).stdout, run(*arguments).stdout
                with self.subTest(arguments=arguments):
                    self.assertIn("Usage: kubectl fairlead", named)
                    self.assertEqual(re.findall(r"(?<!kubectl )\bfairlead (?=[a-z-])", named), [])
                    # Nothing but the name differs; the formatter may have broken lines elsewhere.
                    self.assertEqual("".join(named.replace("kubectl fairlead", "fairlead").split()), "".join(usual.split()))
            wrong = run("applyy")
            self.assertEqual((wrong.returncode, wrong.stderr),
                             (64, "error: unknown command applyy; did you mean apply?\n  next      kubectl fairlead --help\n"))
            self.assertIn("\n  next      kubectl fairlead delete --help\n", run("delete").stderr)

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

    def test_the_name_alone_prints_the_help_and_the_version_flag_the_version(self):
        self.assertEqual(fairlead().stdout, fairlead("--help").stdout)
        self.assertEqual(fairlead().returncode, 0)
        self.assertEqual(fairlead("--version").stdout, fairlead("version").stdout)
        self.assertEqual(fairlead("apply", "--version").stdout, fairlead("version").stdout)

    def test_output_that_is_lost_is_a_failure(self):
        lost = ("error: the output could not be written completely\n"
                "  because   the disk is full, or standard output was closed\n")
        for arguments in (["version"], ["--help"], ["completion", "bash"], ["webhook", "manifests", "-n", "a"], ["gate", "manifests"],
                          ["gate", "manifests", "-o", "json"]):
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                result = subprocess.run([FAIRLEAD, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual((result.returncode, result.stderr), (1, lost))
        with open("/dev/full", "w") as full:
            noted = subprocess.run([FAIRLEAD, "webhook", "manifests"], stdout=subprocess.DEVNULL, stderr=full, timeout=60)
            self.assertEqual(noted.returncode, 0, "a note that is lost is none")
        closed = subprocess.run(["sh", "-c", f"{FAIRLEAD} version >&-"], stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((closed.returncode, closed.stderr), (1, lost))

    def test_closed_descriptors_are_not_taken_by_files_of_ours(self):
        with tempfile.TemporaryDirectory() as folder:
            journal = pathlib.Path(folder) / "journal"
            result = subprocess.run(["sh", "-c", f"{FAIRLEAD} apply -f /nonexistent --journal {journal} <&- >&- 2>&-"], timeout=60)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(journal.read_text(), "")
            self.assertEqual(journal.stat().st_mode & 0o777, 0o600)

    def test_a_wait_for_standard_input_can_be_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                process = subprocess.Popen([FAIRLEAD, "apply", "-f", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.addCleanup(process.stdin.close)
                self.addCleanup(process.stderr.close)
                self.await_handler(process.pid, number)
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=60), 130)
                self.assertEqual(process.stderr.read(), "error: interrupted\n")

    @staticmethod
    def await_handler(pid, number):
        """Until the process catches the signal: before that it would be killed."""
        while True:
            [caught] = re.findall(r"^SigCgt:\s*(\w+)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)
            if int(caught, 16) >> (number - 1) & 1:
                return

    def test_a_wrong_command_line_is_exit_code_64_and_says_what_next(self):
        apply = ("apply", "-f", "x")
        for arguments, complaint in (
                (["aply"], "unknown command aply; did you mean apply?"),
                (["nonsense"], "unknown command nonsense"),
                (["help", "aply"], "unknown command aply; did you mean apply?"),
                (["--contxt", "x", "version"], "unknown flag --contxt; did you mean --context?"),
                (["apply"], "there are no manifests to read: give -f FILE, -k FOLDER or --chart CHART"),
                (["apply", "-f"], "-f/--filename needs a FILE"),
                ([*apply, "--prun"], "unknown flag --prun; did you mean --prune?"),
                ([*apply, "--nothing-like-it=3"], "unknown flag --nothing-like-it"),
                ([*apply, "--timeout"], "--timeout needs a DURATION"),
                ([*apply, "--timeout", "1s", "--timeout", "2s"], "--timeout may be given only once"),
                ([*apply, "--dry-run"], "--dry-run needs one of none, server, client"),
                ([*apply, "--dry-run=nobody"], '--dry-run: "nobody" is not one of none, server, client'),
                ([*apply, "-o", "yaml"], '-o/--output: "yaml" is not one of text, json, jsonl, quiet'),
                ([*apply, "--prune"], "--prune needs --name as well"),
                ([*apply, "--prune", "--name", "n", "--only", "a=b"], "--prune and --only cannot be used together"),
                ([*apply, "--concurrency", "many"], '--concurrency: "many" is not a number from 0 to 10000'),
                ([*apply, "--force-conflicts=maybe"], '--force-conflicts: "maybe" is not true or false'),
                (["version", "-o", "yml"], '-o/--output: "yml" is not one of text, json'),
                (["version", "more"], "fairlead version does not take the argument more"),
                (["-v", "much", "version"], '-v/--v: "much" is not a number'),
                (["completion"], "SHELL is missing: bash, zsh or fish"),
                (["completion", "tcsh"], 'SHELL: "tcsh" is not one of bash, zsh, fish'),
                (["delete"], "nothing says what is to be deleted: give -f FILE, --name BUNDLE, --chart CHART or KIND/NAME"),
                (["delete", "pod/y", "-f", "x"],
                 "KIND/NAME cannot be used together with -f, -k, --chart or --name: give one of them"),
                (["webhook", "serve", "--max-in-flight", "0"], '--max-in-flight: "0" is not a whole number above 0'),
                (["rollback", "shop", "x"], 'REVISION: "x" is not a whole number above 0'),
                (["sandbox", "--port", "99999"], '--port: "99999" is not a number from 0 to 65535')):
            with self.subTest(arguments=arguments):
                result = fairlead(*arguments)
                self.assertEqual(result.returncode, 64, result.stderr)
                self.assertRegex(result.stderr, r"^error: .*\n  next      fairlead.* --help\n$")
                self.assertEqual(result.stderr.splitlines()[0], f"error: {complaint}")

    def test_a_wrong_value_is_exit_code_64_and_says_how_to_write_it(self):
        apply = ("apply", "-f", "x")
        for arguments, complaint in (
                ([*apply, "--timeout", "5x"], 'error: --timeout: "5x" is not a duration\n  next      write it like 30s, 5m or 1h30m\n'),
                ([*apply, "--timeout-for", "Job"],
                 'error: --timeout-for: "Job" is not KIND=DURATION\n  next      fairlead apply … --timeout-for Job=30m\n'),
                ([*apply, "--timeout-for", "Job=x"],
                 'error: --timeout-for Job=x: "x" is not a duration\n  next      write it like 30s, 5m or 1h30m\n'),
                (["sandbox", "--delay", "pod"],
                 'error: --delay: "pod" is not NAME=DURATION\n  next      fairlead sandbox --delay pod-ready=2s\n')):
            with self.subTest(arguments=arguments):
                result = fairlead(*arguments)
                self.assertEqual((result.returncode, result.stderr), (64, complaint))
        unknown = fairlead("sandbox", "--delay", "pod-redy=1s")
        self.assertEqual(unknown.returncode, 64)
        self.assertRegex(unknown.stderr, r"^error: --delay: unknown delay pod-redy; did you mean pod-ready\?\n  next      use one of crd-")


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


class Addresses(unittest.TestCase):
    def serve(self, answer):
        """A server that answers every request so, what it was asked with, and its port."""
        asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.headers.get("Authorization"))
                answer(self)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return asked, server.server_address[1]

    def test_a_redirect_to_another_server_takes_no_password_along(self):
        asked, port = self.serve(lambda handler: handler.send_response(404))

        def redirect(handler):
            handler.send_response(302)
            handler.send_header("Location", f"http://127.0.0.1:{port}/elsewhere.yaml")

        asked_first, first = self.serve(redirect)
        result = fairlead("apply", "-f", f"http://jane:secret@127.0.0.1:{first}/manifest.yaml")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"http://127.0.0.1:{port}/elsewhere.yaml answered 404\n", result.stderr)
        self.assertEqual(asked_first, ["Basic " + base64.b64encode(b"jane:secret").decode()])
        self.assertEqual(asked, [None])


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
