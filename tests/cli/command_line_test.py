"""The command line as people and scripts meet it: help, versions, mistakes, exit codes. Needs no cluster."""
import json
import os
import pathlib
import subprocess
import tempfile
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


unittest.main()
