"""fairlead plan, diff, apply --confirm and apply --plan on the sandbox, as a user would use them."""
import json
import os
import pathlib
import pty
import stat
import subprocess
import tempfile
import unittest

from tests.cli.on_sandbox import FAIRLEAD, sandbox


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


SECRET: dict = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}, "stringData": {"password": "open sesame"}}


class Plan(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.place.cleanup)
        cls.kubeconfig = str(pathlib.Path(cls.place.name) / "kubeconfig")
        cls.enterClassContext(sandbox(cls.kubeconfig, "--nodes", "1"))

    def setUp(self):
        self.namespace = self.id().rsplit(".")[-1].removeprefix("test_").replace("_", "-")[:60]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.manifests = self.folder / "k8s.json"
        self.env = {**os.environ, "KUBECONFIG": self.kubeconfig}
        self.env.pop("KUBECTL_EXTERNAL_DIFF", None)
        self.write({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        self.assertEqual(self.fairlead("apply", "-f", self.manifests).returncode, 0)

    def write(self, *objects):
        self.manifests.write_text("\n".join(json.dumps(one) for one in objects))

    def fairlead(self, *arguments, **env):
        return subprocess.run([FAIRLEAD, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                              env={**self.env, **env})

    def run_it(self, command, *more, **env):
        return self.fairlead(command, "-n", self.namespace, "-f", self.manifests, *more, **env)

    def on_terminal(self, *arguments, answer="", env=None, before_answer=lambda: None):
        """Runs it on a terminal of its own. Returns the exit code, and all that the terminal shows."""
        child, terminal = pty.fork()
        if child == 0:
            os.execve(FAIRLEAD, [FAIRLEAD, *map(str, arguments)], {**self.env, "TERM": "xterm", **(env or {})})
        shown = b""
        answered = not answer
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError:
                break
            if not piece:
                break
            shown += piece
            if not answered and b"[y/N]" in shown:
                before_answer()
                os.write(terminal, answer.encode())
                answered = True
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode().replace("\r\n", "\n")

    # ---- plan and diff --------------------------------------------------------------------------------------------
    def test_a_diff_of_everything_that_can_happen(self):
        self.write(config_map("same", a="1"), config_map("changed", colour="blue", size="3"), config_map("old"), SECRET)
        bundle = ("--name", "shop", "--prune")
        self.assertEqual(self.run_it("apply", *bundle).returncode, 0)
        nothing = self.run_it("plan", *bundle)
        self.assertEqual((nothing.returncode, nothing.stderr), (0, ""))
        self.assertRegex(nothing.stdout, r"^Nothing to do: 4 objects are unchanged \(\d+\.\ds\)\n$")
        changed_secret = {**SECRET, "stringData": {"password": "let me in"}}
        self.write(config_map("same", a="1"), config_map("changed", colour="red", size="3"), config_map("new", b="2"),
                   changed_secret)
        result = self.run_it("diff", *bundle, "--lines", "1")
        self.assertEqual((result.returncode, result.stderr), (2, ""))
        place = self.namespace
        self.assertEqual(result.stdout, f"""\
--- ConfigMap {place}/changed (in the cluster)
+++ ConfigMap {place}/changed ({self.manifests}:2)
@@ -2,3 +2,3 @@
 data:
-  colour: blue
+  colour: red
   size: "3"
--- /dev/null
+++ ConfigMap {place}/new ({self.manifests}:3)
@@ -0,0 +1,7 @@
+apiVersion: v1
+data:
+  b: "2"
+kind: ConfigMap
+metadata:
+  name: new
+  namespace: {place}
--- Secret {place}/db (in the cluster)
+++ Secret {place}/db ({self.manifests}:4)
@@ -2,3 +2,3 @@
 data:
-  password: "*** (before)"
+  password: "*** (after)"
 kind: Secret
--- ConfigMap {place}/old (in the cluster)
+++ /dev/null
@@ -1,5 +0,0 @@
-apiVersion: v1
-kind: ConfigMap
-metadata:
-  name: old
-  namespace: {place}
""")
        plan = self.run_it("plan", *bundle)
        self.assertEqual((plan.returncode, plan.stderr), (2, ""))
        head, _, rest = plan.stdout.partition("\n--- ")
        self.assertEqual(head, f"""\
Plan for bundle shop, context sandbox, namespace {place}

   1  ~ change   ConfigMap {place}/changed
   1  + create   ConfigMap {place}/new
   1  ~ change   Secret {place}/db
      - delete   ConfigMap {place}/old
""")
        self.assertNotIn("/dev/null", rest)
        self.assertRegex(rest, r"\n1 to create, 2 to change, 1 to delete, 1 unchanged \(\d+\.\ds\)\n$")
        shown = self.run_it("diff", *bundle, "--show-secrets")
        self.assertIn("+  password: bGV0IG1lIGlu\n", shown.stdout)

    def test_the_client_finds_the_same(self):
        self.write(config_map("one", a="1", b="2"), SECRET)
        self.assertEqual(self.run_it("apply").returncode, 0)
        self.write(config_map("one", a="1", c="3"), SECRET, config_map("two"))
        by_server, by_client = self.run_it("diff"), self.run_it("diff", "--dry-run=client", "-v", "6")
        self.assertEqual(by_server.returncode, 2)
        self.assertEqual(by_client.returncode, 2)
        self.assertEqual(by_server.stdout, by_client.stdout)
        sent = [line for line in by_client.stderr.splitlines() if not line.startswith("GET ")]
        self.assertTrue(all("selfsubjectaccessreviews" in line for line in sent), sent)
        self.assertIn("compared without the API server", self.run_it("plan", "--dry-run=client").stdout)

    def test_what_cannot_be_tried_yet(self):
        self.write({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "not-there-yet"}},
                   {**config_map("inside"), "metadata": {"name": "inside", "namespace": "not-there-yet"}})
        result = self.fairlead("plan", "-f", self.manifests)
        self.assertEqual((result.returncode, result.stderr), (2, ""))
        self.assertRegex(result.stdout, r"""^Plan for context sandbox, namespace default

   1  \+ create   Namespace not-there-yet
   2  \+ create   ConfigMap not-there-yet/inside \(unchecked\)
                 after Namespace not-there-yet is stored \(its namespace\)
                 unchecked: its namespace is created by this bundle

2 to create \(\d+\.\ds\)
$""")

    def test_an_error(self):
        self.write({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "bad"}, "data": {"a": {"b": "c"}}})
        result = self.run_it("plan")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn("error: ConfigMap", result.stderr)

    def test_json(self):
        self.write(config_map("one", a="1"), config_map("same"))
        self.assertEqual(self.run_it("apply").returncode, 0)
        self.write(config_map("one", a="2"), config_map("same"), SECRET)
        for command in ("plan", "diff"):
            result = self.run_it(command, "-o", "json")
            self.assertEqual((result.returncode, result.stderr), (2, ""))
            document = json.loads(result.stdout)
            self.assertEqual(document["schemaVersion"], 1)
            self.assertEqual((document["outcome"], document["namespace"], document["dryRun"]),
                             ("changes", self.namespace, "server"))
            self.assertEqual(document["counts"], {"create": 1, "change": 1, "replace": 0, "delete": 0, "unchanged": 1,
                                                  "failed": 0, "left": 0})
            one, same, secret = document["objects"]
            self.assertEqual((one["action"], one["step"], one["checked"]), ("change", 1, True))
            self.assertEqual(one["changes"], [{"path": "data.a", "before": "1", "after": "2"}])
            self.assertIn('-  a: "1"\n+  a: "2"\n', one["diff"])
            self.assertEqual(same["action"], "none")
            self.assertEqual(secret["action"], "create")
            self.assertIn('+  password: "***"\n', secret["diff"])

    def test_a_program_of_the_users_choice(self):
        self.write(config_map("one", a="1"))
        self.assertEqual(self.run_it("apply").returncode, 0)
        self.write(config_map("one", a="2"))
        result = self.run_it("diff", KUBECTL_EXTERNAL_DIFF="diff -r -u ;rm")
        self.assertEqual((result.returncode, result.stderr), (2, ""))
        self.assertRegex(result.stdout, rf"/LIVE/ConfigMap\.{self.namespace}\.one\t")
        self.assertIn('\n-  a: "1"\n+  a: "2"\n', result.stdout)
        failed = self.run_it("diff", KUBECTL_EXTERNAL_DIFF="false-friend")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("error: false-friend of KUBECTL_EXTERNAL_DIFF cannot be run", failed.stderr)

    def test_colours_on_a_terminal_only(self):
        self.write(config_map("one", a="web:1.0"))
        self.assertEqual(self.run_it("apply").returncode, 0)
        self.write(config_map("one", a="web:2.0"))
        command = ("diff", "-n", self.namespace, "-f", self.manifests)
        code, shown = self.on_terminal(*command)
        self.assertEqual(code, 2)
        self.assertIn("\033[32m+  a: web:\033[7m2\033[27m.0\033[0m\n", shown)
        self.assertNotIn("\033", self.on_terminal(*command, env={"NO_COLOR": "1"})[1])
        self.assertNotIn("\033", self.run_it("diff").stdout)

    # ---- apply --confirm ------------------------------------------------------------------------------------------
    def test_a_question_before_anything_is_stored(self):
        self.write(config_map("asked"))
        command = ("apply", "-n", self.namespace, "-f", self.manifests, "--confirm")
        code, shown = self.on_terminal(*command, answer="n\n")
        self.assertEqual(code, 1, shown)
        self.assertIn(f"context sandbox, namespace {self.namespace}: 1 to create.\nGo on? [y/N] ", shown)
        self.assertEqual(self.run_it("plan").returncode, 2)
        code, shown = self.on_terminal(*command, answer="y\n")
        self.assertEqual(code, 0, shown)
        self.assertEqual(self.run_it("plan").returncode, 0)

    def test_a_cluster_that_changes_before_the_answer(self):
        self.write(config_map("asked", a="1"))
        self.assertEqual(self.run_it("apply").returncode, 0)
        self.write(config_map("asked", a="2"))
        theirs = self.folder / "theirs.json"
        theirs.write_text(json.dumps(config_map("asked", a="9")))

        def somebody_else_applies():
            self.assertEqual(self.fairlead("apply", "-n", self.namespace, "-f", theirs).returncode, 0)
        code, shown = self.on_terminal("apply", "-n", self.namespace, "-f", self.manifests, "--confirm", answer="y\n",
                                       before_answer=somebody_else_applies)
        self.assertEqual(code, 1, shown)
        self.assertTrue(shown.endswith(f"""\
error: the cluster has changed since the plan was shown, and nothing was applied
  because   ConfigMap {self.namespace}/asked changed in the cluster
  next      run it again to see the new plan
"""), shown)
        self.assertEqual(self.fairlead("diff", "-n", self.namespace, "-f", theirs).returncode, 0)

    def test_nobody_to_ask(self):
        self.write(config_map("asked"))
        result = self.run_it("apply", "--confirm")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (64, "", """\
error: --confirm needs a terminal to ask on
  next      fairlead apply --confirm --yes shows the plan and does not ask
"""))
        self.assertEqual(self.run_it("apply", "--confirm", "--yes").returncode, 0)

    def test_delete_asks_once_and_says_where(self):
        self.write(config_map("a"), config_map("b"))
        self.assertEqual(self.run_it("apply").returncode, 0)
        code, shown = self.on_terminal("delete", "-n", self.namespace, "-f", self.manifests, answer="y\n")
        self.assertEqual(code, 0, shown)
        self.assertEqual(shown.count("Go on?"), 1)
        self.assertIn(f"context sandbox, namespace {self.namespace}: 2 objects will be deleted (2 ConfigMap).\nGo on? ", shown)

    # ---- apply --plan ---------------------------------------------------------------------------------------------
    def planned(self, *flags):
        path = self.folder / "x.plan"
        result = self.run_it("plan", "--out", path, *flags)
        self.assertEqual((result.returncode, result.stderr), (2, ""))
        return path

    def test_a_plan_is_applied_as_it_was_made(self):
        self.write(config_map("one", a="1"), SECRET)
        path = self.planned("--name", "shop")
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        for secret in ("open sesame", "b3BlbiBzZXNhbWU"):
            self.assertNotIn(secret, path.read_text())
        result = self.fairlead("apply", "--plan", path, "--no-wait")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.run_it("plan", "--name", "shop").returncode, 0)
        again = self.fairlead("apply", "--plan", path)
        self.assertEqual(again.returncode, 1)
        self.assertEqual(again.stderr, f"""\
error: the plan is out of date, and nothing was applied
  because   ConfigMap {self.namespace}/one was planned as "create", and is now "none"; Secret {self.namespace}/db was planned as "create", and is now "none"
  next      fairlead plan … --out FILE makes a new one
""")

    def test_a_plan_is_refused_when_manifests_or_cluster_changed(self):
        self.write(config_map("one", a="1"), config_map("two", a="1"))
        self.assertEqual(self.run_it("apply").returncode, 0)
        self.write(config_map("one", a="2"), config_map("two", a="2"))
        path = self.planned()
        self.write(config_map("one", a="3"), config_map("two", a="2"))
        result = self.fairlead("apply", "--plan", path)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"because   ConfigMap {self.namespace}/one changed in the manifests\n", result.stderr)
        self.write(config_map("two", a="9"))
        self.assertEqual(self.run_it("apply").returncode, 0)
        self.write(config_map("one", a="2"), config_map("two", a="2"))
        result = self.fairlead("apply", "--plan", path)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"because   ConfigMap {self.namespace}/two changed in the cluster\n", result.stderr)

    def test_a_plan_for_another_cluster_or_namespace(self):
        self.write(config_map("one"))
        path = self.planned()
        result = self.fairlead("apply", "--plan", path, "-n", "default")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.splitlines()[0],
                         f"error: the plan is for namespace {self.namespace}, not for default")
        path.write_text(path.read_text().replace("https://127.0.0.1:", "https://127.0.0.2:"))
        result = self.fairlead("apply", "--plan", path)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^error: the plan is for another cluster: https://127\.0\.0\.2:\d+\n")

    def test_what_is_no_plan(self):
        result = self.fairlead("apply", "--plan", self.manifests)
        self.assertEqual((result.returncode, result.stderr),
                         (1, f"error: {self.manifests} is not a plan\n  next      fairlead plan … --out FILE\n"))


if __name__ == "__main__":
    unittest.main()
