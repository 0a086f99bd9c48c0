"""list, status and trace, on the sandbox."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

FAIRLEAD = os.environ["FAIRLEAD"]

MAPS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
"""


class Bundles(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        kubeconfig = self.folder / "kubeconfig"
        sandbox = subprocess.Popen([FAIRLEAD, "sandbox", "--kubeconfig-file", str(kubeconfig)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(sandbox.stdout.close)
        self.addCleanup(sandbox.wait)
        self.addCleanup(sandbox.terminate)
        sandbox.stdout.readline()
        self.env = {**os.environ, "KUBECONFIG": str(kubeconfig)}

    def fairlead(self, *arguments, code=0, stdin=""):
        result = subprocess.run([FAIRLEAD, *arguments], input=stdin, capture_output=True, text=True, timeout=60, env=self.env,
                                cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    @staticmethod
    def ageless(text):
        """Ages and the widths of columns differ from run to run."""
        return re.sub(r" +", " ", re.sub(r"\b\d+s\b", "AGE", text))

    def test_a_bundle_is_listed_shown_and_traced(self):
        self.fairlead("apply", "--name", "shop", "-f", "-", stdin=MAPS)
        self.assertEqual(self.ageless(self.fairlead("list").stdout),
                         "NAMESPACE NAME OBJECTS READY LAST RUN AGE\ndefault shop 2 2 AGE ago AGE\n")
        self.assertEqual(self.fairlead("status", "shop").stdout,
                         "bundle shop, namespace default\n2 of 2 objects ready\n"
                         "├─ ConfigMap default/a   ready\n└─ ConfigMap default/b   ready\n")
        self.assertEqual(self.ageless(self.fairlead("trace", "cm/a").stdout),
                         "ConfigMap default/a\n bundle shop, namespace default\n applied AGE ago, as fairlead/default/shop\n")
        for arguments in (["list", "-A"], ["status", "shop"], ["trace", "cm/a"]):
            with self.subTest(arguments):
                self.assertEqual(json.loads(self.fairlead(*arguments, "-o", "json").stdout)["schemaVersion"], 1)
                self.assertIn("schemaVersion: 1\n", self.fairlead(*arguments, "-o", "yaml").stdout)

    def test_what_is_not_ready_is_an_exit_code(self):
        broken = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
                  "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
                      "metadata": {"labels": {"a": "b"}},
                      "spec": {"containers": [{"name": "c", "image": "i", "envFrom": [{"secretRef": {"name": "none"}}]}]}}}}
        self.fairlead("apply", "--name", "shop", "--no-wait", "-f", "-", stdin=json.dumps(broken))
        status = json.loads(self.fairlead("status", "shop", "-o", "json", code=1).stdout)
        self.assertEqual((status["isReady"], status["objects"][0]["state"]), (False, "in progress"))

    def test_what_is_not_there_is_an_error(self):
        self.assertEqual(self.fairlead("list").stderr, "note: there are no bundles in namespace default; -A lists all namespaces\n")
        self.assertEqual(self.fairlead("status", "nope", code=1).stderr,
                         "error: there is no bundle nope in namespace default\n  next      fairlead list -A\n")
        self.assertEqual(self.fairlead("trace", "nope", code=1).stderr,
                         'error: "nope" names no object\n'
                         "  next      write it as KIND/NAME, such as deployment/web, with -n for its namespace\n")


unittest.main()
