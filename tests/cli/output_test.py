"""What standard output and standard error get: text, JSON, progress, and what GitHub Actions shows."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

FAIRLEAD = os.environ["FAIRLEAD"]
CLEAN = {key: value for key, value in os.environ.items() if key not in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "FAIRLEAD_PROGRESS")}


def config_map(name, **more):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, **more}


def documents(*objects):
    return "\n---\n".join(json.dumps(one) for one in objects)


def lines_of(result):
    """The lines that it printed, without the one that a run of a second or more adds."""
    return [line for line in result.stdout.splitlines() if not line.startswith("longest: ")]


class Output(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def fairlead(self, *arguments, env=None):
        return subprocess.run([FAIRLEAD, *arguments], capture_output=True, text=True, timeout=60, cwd=self.folder,
                              env={**CLEAN, **(env or {})})

    def in_sandbox(self, *arguments, objects=(), env=None):
        (self.folder / "app.yaml").write_text(documents(*objects))
        return self.fairlead("sandbox", "--", FAIRLEAD, *arguments, env=env)

    def guarded_bundle(self, policy, annotation, value):
        """A webhook that never answers, the Deployment behind it, and 52 ConfigMaps that it guards."""
        pod = {"metadata": {"labels": {"app": "hook"}, "annotations": {f"sandbox.fairlead.dev/{annotation}": value}},
               "spec": {"containers": [{"name": "hook", "image": "hook:1"}]}}
        webhook = {"name": "guard.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": policy,
                   "clientConfig": {"service": {"namespace": "default", "name": "hook"}},
                   "objectSelector": {"matchLabels": {"guarded": "yes"}},
                   "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}
        return [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook"},
                 "spec": {"selector": {"app": "hook"}, "ports": [{"port": 443}]}},
                {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "hook"},
                 "spec": {"selector": {"matchLabels": {"app": "hook"}}, "template": pod}},
                {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                 "metadata": {"name": "guard"}, "webhooks": [webhook]},
                *({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"cm-{number:02}", "labels": {"guarded": "yes"}}}
                  for number in range(52))]

    def test_one_cause_is_told_once_with_what_it_blocks(self):
        for policy in ("Fail", "Ignore"):
            for annotation, value in (("fail", "image-pull"), ("listens-after", "1h")):
                with self.subTest(policy=policy, annotation=annotation):
                    result = self.in_sandbox("apply", "-f", "app.yaml", "--timeout", "6s",
                                             objects=self.guarded_bundle(policy, annotation, value))
                    self.assertEqual(result.returncode, 3, result.stderr)
                    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
                    self.assertEqual(len(errors), 1, result.stderr)
                    self.assertRegex(errors[0], r"^error: webhook guard\.example\.com \(ValidatingWebhookConfiguration guard\) (is not answering|cannot be called)")
                    self.assertIn("  blocks    52 objects: ConfigMap default/cm-00, ConfigMap default/cm-01, ConfigMap default/cm-02 and 49 more\n",
                                  result.stderr)

    def test_two_thousand_objects_are_a_few_lines(self):
        objects = [config_map(f"cm-{number}") for number in range(2000)]
        result = self.in_sandbox("apply", "-f", "app.yaml", objects=objects)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = lines_of(result)
        self.assertLess(len(lines), 100)
        created = [re.match(r"^created ([\d,]+) ConfigMaps in default$", line) for line in lines]
        self.assertEqual(sum(int(one.group(1).replace(",", "")) for one in created if one), 2000, result.stdout)
        self.assertRegex(lines[-1], r"^2,000 created in \d+\.\ds$")
        everything = self.in_sandbox("apply", "-f", "app.yaml", "--all", objects=objects)
        self.assertEqual(len(lines_of(everything)), 2001)

    def test_documents_and_progress_are_apart(self):
        result = self.in_sandbox("apply", "-f", "app.yaml", "-o", "json", "--progress", "plain", objects=[config_map("a")])
        document = json.loads(result.stdout)
        self.assertEqual((document["schemaVersion"], document["summary"]["objects"], document["summary"]["created"]), (1, 1, 1))
        self.assertEqual(result.stderr, "ConfigMap default/a created\n")
        result = self.in_sandbox("apply", "-f", "app.yaml", "--progress", "json", objects=[config_map("a")])
        events = [json.loads(line) for line in result.stderr.splitlines()]
        self.assertEqual((events[0]["event"], events[0]["schemaVersion"], events[-1]["event"]), ("started", 1, "ended"))
        self.assertRegex(result.stdout, r"\A1 created in \d+\.\ds\n\Z")
        quiet = self.in_sandbox("apply", "-f", "app.yaml", objects=[config_map("a")], env={"FAIRLEAD_PROGRESS": "quiet"})
        self.assertRegex(quiet.stdout, r"\A1 created in \d+\.\ds\n\Z")

    def test_the_flag_wins_over_the_variable(self):
        result = self.in_sandbox("apply", "-f", "app.yaml", "--progress", "plain", objects=[config_map("a")],
                                 env={"FAIRLEAD_PROGRESS": "quiet"})
        self.assertIn("ConfigMap default/a created\n", result.stdout)
        wrong = self.fairlead("apply", "-f", "app.yaml", env={"FAIRLEAD_PROGRESS": "loud"})
        self.assertEqual((wrong.returncode, wrong.stderr), (64,
            'error: FAIRLEAD_PROGRESS: "loud" is not one of auto, tty, plain, quiet, json\n'
            "  next      unset FAIRLEAD_PROGRESS, or use --progress\n"))
        tty = self.fairlead("apply", "-f", "app.yaml", "--progress", "tty")
        self.assertEqual((tty.returncode, tty.stderr), (64,
            "error: --progress tty needs a terminal that understands escape sequences\n"
            "  next      --progress plain prints lines, and --progress auto uses a terminal if there is one\n"))

    def test_errors_are_json_where_json_was_asked_for(self):
        (self.folder / "bad.yaml").write_text("a: [\n---\nkind: x\n")
        (self.folder / "good.yaml").write_text(documents(config_map("a")))
        (self.folder / "config").write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "x",
            "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}], "users": [{"name": "x", "user": {}}],
            "clusters": [{"name": "x", "cluster": {"server": "http://127.0.0.1:1"}}]}))
        for words, code, outcome, what in (
                (("-f", "good.yaml", "--nonsense"), 64, "usage", "unknown flag --nonsense"),
                (("-f", "missing.yaml"), 1, "failed", "missing.yaml"),
                (("-f", "bad.yaml"), 1, "failed", "not valid YAML"),
                (("-f", "good.yaml", "--timeout", "soon"), 64, "usage", "--timeout"),
                (("-f", "good.yaml", "--kubeconfig", "config", "--timeout", "5s"), 1, "failed", "")):
            for form in (["-o", "json"], ["-ojson"], ["--output=jsonl"]):
                with self.subTest(" ".join([*words, *form])):
                    result = self.fairlead("apply", *words, *form)
                    self.assertEqual((result.returncode, result.stderr), (code, ""), result.stdout)
                    document = json.loads(result.stdout.splitlines()[-1] if "jsonl" in form[0] else result.stdout)
                    summary = document if "jsonl" in form[0] else document["summary"]
                    self.assertEqual((document["schemaVersion"], summary["outcome"]), (1, outcome))
                    self.assertIn(what, summary["errors"][0]["what"])

    def test_github(self):
        summary = self.folder / "summary.md"
        summary.write_text("before\n")
        env = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"password": "hunter2hunter2"}}
        objects = [config_map("good"), secret, {**config_map("bad"), "metadata": {"name": "bad", "labels": {"a": "hunter2hunter2 !"}}}]
        result = self.in_sandbox("apply", "-f", "app.yaml", objects=objects, env=env)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertRegex(result.stderr, r"(?m)^::error file=app\.yaml,line=\d+::ConfigMap default/bad was not accepted: ")
        text = summary.read_text()
        self.assertTrue(text.startswith("before\n### fairlead apply: failed\n\n```text\n3 objects: 2 created, 1 failed (refused) in "), text)
        self.assertIn("error: ConfigMap default/bad was not accepted\n", text)
        self.assertNotIn("hunter2", text + result.stderr + result.stdout)
        early = self.fairlead("apply", "-f", "nowhere.yaml", env=env)
        self.assertIn("::error", early.stderr)


if __name__ == "__main__":
    unittest.main()
