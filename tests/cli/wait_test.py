"""fairlead wait and the shell functions, on the sandbox."""
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

from tests.cli.on_sandbox import FAIRLEAD, OnSharedSandbox


def deployment(name, **annotations):
    template = {"metadata": {"labels": {"app": name}, "annotations": annotations},
                "spec": {"containers": [{"name": "x", "image": "x"}]}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": {"app": name}}, "template": template}}


class Waiting(OnSharedSandbox):
    def start(self, *arguments):
        process = subprocess.Popen([FAIRLEAD, "wait", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=self.env)
        # The first line says what it waits for.
        return process, process.stdout.readline()

    def apply(self, *objects):
        self.fairlead("apply", "--no-wait", "-f", "-", stdin="---\n".join(json.dumps(one) + "\n" for one in objects))

    def test_an_object_that_comes_late(self):
        process, first = self.start("deployment/late")
        self.assertEqual(first, "Deployment default/late waits: it does not exist yet\n")
        self.apply(deployment("late", **{"sandbox.fairlead.dev/ready-after": "500ms"}))
        output, errors = process.communicate(timeout=30)
        self.assertEqual((process.returncode, errors), (0, ""))
        self.assertRegex(output, r"^Deployment default/late ready after [\d.]+s\n1 met in [\d.]+s\n$")

    def test_manifests(self):
        (self.folder / "web.json").write_text(json.dumps(deployment("web")))
        self.fairlead("apply", "--no-wait", "-f", "web.json")
        self.fairlead("wait", "-f", "web.json", "--for", "rollout")
        self.fairlead("delete", "-f", "web.json", "-y")
        self.fairlead("wait", "-f", "web.json", "--for", "delete")

    def test_time_is_over(self):
        result = self.fairlead("wait", "configmap/nope", "--existence-timeout", "1s", code=3)
        self.assertEqual(result.stderr, "error: ConfigMap default/nope does not exist after 1s\n"
                         "  next      kubectl -n default get configmaps\n")
        self.fairlead("wait", "configmap/nope", "--timeout", "0", code=3)
        result = self.fairlead("wait", "configmap/nope", "--timeout", "1s", code=3)
        self.assertIn("error: ConfigMap default/nope does not exist after 1s\n", result.stderr)

    def test_json(self):
        self.apply(deployment("data"))
        self.fairlead("wait", "deployment/data", "-o", "quiet")
        document = json.loads(self.fairlead("wait", "deploy/data", "--for", "condition=Available", "-o", "json").stdout)
        [found] = document["objects"]
        self.assertEqual((found["kind"], found["namespace"], found["name"], found["outcome"]), ("Deployment", "default", "data", "met"))
        self.assertEqual((document["summary"]["outcome"], document["summary"]["met"]), ("done", 1))

    def test_a_failed_job_fails_at_once(self):
        pod = {"metadata": {"annotations": {"sandbox.fairlead.dev/runs-for": "0s", "sandbox.fairlead.dev/exit-code": "1"}},
               "spec": {"restartPolicy": "Never", "containers": [{"name": "x", "image": "x"}]}}
        self.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "broken"}, "spec": {"backoffLimit": 0, "template": pod}})
        errors = self.fairlead("wait", "job/broken", "--for", "condition=Complete", code=1).stderr
        self.assertTrue(errors.startswith("error: Job default/broken does not meet condition=Complete\n  because   Job failed: "), errors)

    def test_a_webhook_without_a_backend(self):
        hook = {"name": "v.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore",
                "clientConfig": {"service": {"namespace": "default", "name": "nobody"}, "caBundle": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg=="},
                "rules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["widgets"]}]}
        self.apply({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                    "metadata": {"name": "open"}, "webhooks": [hook]})
        result = self.fairlead("wait", "webhook/open", "--timeout", "1s", "--allow-short", "--layers", code=3)
        self.assertIn("webhook v.example.com (ValidatingWebhookConfiguration open)\n"
                      "  configuration  unknown  registered, not yet proved to be in effect\n", result.stdout)
        self.assertIn("  service        failing  service default/nobody does not exist\n", result.stdout)
        self.assertIn("  next      kubectl -n default get service nobody\n", result.stderr)

    def test_an_interruption(self):
        process, _ = self.start("configmap/never")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        self.assertEqual((process.returncode, errors), (130, "error: interrupted\n"))

    def test_wrong_command_lines(self):
        (self.folder / "probe.json").write_text(json.dumps(deployment("probe")))
        for arguments, words in ((["wait"], "nothing says what to wait for"), (["wait", "pod"], "names no object"),
                                 (["wait", "pod/a", "--for", "joy"], "is none of the forms"),
                                 (["wait", "pod/a", "--timeout", "soon"], "is not a duration"),
                                 (["wait", "webhook/a", "--for", "create"], "cannot be used for webhook/a"),
                                 (["wait", "deploy/a", "--for", "functional"], "cannot be used for deploy/a"),
                                 (["wait", "deploy/a", "--probe-with", "probe.json"], "--probe-with is for webhooks"),
                                 (["wait", "pod/a", "-f", "x.yaml"], "cannot be used together")):
            with self.subTest(arguments):
                self.assertIn(words, self.fairlead(*arguments, code=64).stderr)

    def test_completion_knows_the_forms(self):
        words = self.fairlead("__complete", "--", "wait", "pod/a", "--for", "").stdout.split()
        self.assertEqual(words, ["ready", "functional", "rollout", "create", "delete", "condition=", "jsonpath=", "field="])


class ShellFunctions(unittest.TestCase):
    """With a stand-in for the binary, which notes how it is called."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        functions = subprocess.run([FAIRLEAD, "shell-functions"], capture_output=True, text=True, check=True).stdout
        (self.folder / "functions.sh").write_text(functions)

    def call(self, arguments, codes, shell="bash"):
        """The exit code of the function, the calls, and standard error. `codes` are those of the calls of the binary."""
        binary = self.folder / "stand-in"
        (self.folder / "codes").write_text("\n".join(map(str, codes)) + "\n")
        binary.write_text(f"""#!/bin/bash
cd {self.folder}
echo "$*" >> calls
code=$(head -n 1 codes); sed -i 1d codes
[ $code = 0 ] && echo "ValidatingWebhookConfiguration vm meets it after 0.1s"
exit $code
""")
        binary.chmod(0o755)
        (self.folder / "calls").write_text("")
        result = subprocess.run([shell, "-c", f". ./functions.sh; wait_for_victoria_metrics_webhook {arguments}"], cwd=self.folder,
                                capture_output=True, text=True, env={**os.environ, "FAIRLEAD": str(binary)})
        return result.returncode, (self.folder / "calls").read_text().splitlines(), result.stderr

    def test_it_waits_for_the_configuration_and_then_for_its_webhooks(self):
        for shell in ("bash", "dash"):
            code, calls, errors = self.call("kof 300", [0, 0], shell)
            self.assertEqual((code, len(calls), errors), (0, 2, ""))
            self.assertEqual(calls[0], "wait validatingwebhookconfigurations -l app.kubernetes.io/name=victoria-metrics-operator --any "
                             "--for jsonpath={.webhooks[0].clientConfig.service.namespace}=kof "
                             "--existence-timeout 300s --timeout 300s --progress plain")
            self.assertRegex(calls[1], r"^wait validatingwebhookconfigurations/vm --for functional "
                             r"--existence-timeout (\d+)s --timeout \1s --allow-short --layers --progress plain$")

    def test_any_failure_is_one(self):
        for codes in ([3], [0, 3], [0, 1]):
            code, calls, errors = self.call("kof", codes)
            self.assertEqual((code, len(calls)), (1, len(codes)))
            self.assertRegex(errors, r"^error: the VictoriaMetrics webhook is not ready after \d+ seconds\n"
                             r"  next      kubectl -n kof logs -l app.kubernetes.io/name=victoria-metrics-operator --tail 50\n"
                             r"            kubectl -n kof get events --sort-by .lastTimestamp\n"
                             r"            helm -n kof status kof-operators\n$")

    def test_the_timeout(self):
        _, calls, _ = self.call("kof", [0, 0])
        self.assertIn("--existence-timeout 180s", calls[0])
        _, calls, errors = self.call("kof 5", [0, 0])
        self.assertIn("--existence-timeout 30s", calls[0])
        self.assertEqual(errors, "warning: a timeout of 5 seconds is too short: 30 are used\n")
        self.assertEqual(self.call("kof soon", []), (
            1, [], 'error: wait_for_victoria_metrics_webhook: "soon" is not a number of seconds up to 999999999\n'))
        for huge in ("1000000000", "99999999999999999999999"):
            self.assertEqual(self.call("kof " + huge, []), (
                1, [], f'error: wait_for_victoria_metrics_webhook: "{huge}" is not a number of seconds up to 999999999\n'))
        self.assertEqual(self.call("", []), (1, [], "usage: wait_for_victoria_metrics_webhook NAMESPACE [TIMEOUT]\n"))


class ShellFunctionsOnSandbox(OnSharedSandbox):
    """With the real binary, but for the proof."""

    def test_another_operator_with_the_same_labels_is_left_alone(self):
        (self.folder / "functions.sh").write_text(self.fairlead("shell-functions").stdout)
        for name in ("elsewhere", "kof"):
            hook = {"name": "v.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore",
                    "clientConfig": {"service": {"namespace": name, "name": "vm"}}, "rules": []}
            self.fairlead("apply", "--no-wait", "-f", "-", stdin=json.dumps({
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                "metadata": {"name": f"vm-{name}", "labels": {"app.kubernetes.io/name": "victoria-metrics-operator"}},
                "webhooks": [hook]}))
        binary = self.folder / "partly"
        binary.write_text(f"""#!/bin/bash
case "$*" in *functional*) echo "proves $2"; exit;; esac
exec {FAIRLEAD} "$@"
""")
        binary.chmod(0o755)
        for shell in ("bash", "dash"):
            result = subprocess.run([shell, "-c", ". ./functions.sh; wait_for_victoria_metrics_webhook kof 30"], cwd=self.folder,
                                    capture_output=True, text=True, env={**self.env, "FAIRLEAD": str(binary)})
            self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
            self.assertTrue(result.stdout.endswith("proves validatingwebhookconfigurations/vm-kof\n"), result.stdout)
            self.assertIn("ValidatingWebhookConfiguration vm-kof meets", result.stdout)


unittest.main()
