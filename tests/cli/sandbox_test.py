"""fairlead sandbox, as a user would use it: no cluster, no kubectl."""
import base64
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

FAIRLEAD = os.environ["FAIRLEAD"]


def sandbox(*arguments, **more):
    return subprocess.run([FAIRLEAD, "sandbox", *arguments], capture_output=True, text=True, timeout=60, **more)


class Sandbox(unittest.TestCase):
    def test_a_command_with_its_exit_code(self):
        result = sandbox("--", "sh", "-c", 'test -s "$KUBECONFIG" && echo "$KUBECONFIG"; exit 7')
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertFalse(pathlib.Path(result.stdout.strip()).exists(), "the kubeconfig holds a key, and stays")

    def test_until_it_is_interrupted(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kubeconfig"
            process = subprocess.Popen([FAIRLEAD, "sandbox", "--kubeconfig-file", str(path)], stdout=subprocess.PIPE, text=True)
            self.assertRegex(process.stdout.readline(), r"^sandbox at https://127\.0\.0\.1:\d+ until Ctrl-C$")
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=30), 0)
            self.assertFalse(path.exists())
            process.stdout.close()

    def test_a_file_that_is_there_already_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            path, link = pathlib.Path(folder) / "config", pathlib.Path(folder) / "link"
            path.write_text("mine")
            link.symlink_to(pathlib.Path(folder) / "elsewhere")
            for there in (path, link):
                result = sandbox("--kubeconfig-file", str(there), "--", "true")
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stderr, f"error: the kubeconfig {there} was not written\n"
                                                "  because   the file already exists\n"
                                                "  next      choose another --kubeconfig-file, or delete that file first\n")
            self.assertEqual(path.read_text(), "mine")
            self.assertFalse((pathlib.Path(folder) / "elsewhere").exists())
            # Another file that takes its place meanwhile is not deleted.
            new = pathlib.Path(folder) / "new"
            result = sandbox("--kubeconfig-file", str(new), "--", "sh", "-c", f"rm {new}; echo mine > {new}")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(new.read_text(), "mine\n")

    def test_delays(self):
        config = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
                  "spec": {"containers": [{"name": "c", "image": "i"}]}}
        quick = sandbox("--delay", "pod-started=1ms", "--delay", "pod-ready=1ms", "--", FAIRLEAD, "apply", "-f", "-",
                        input=json.dumps(config))
        self.assertEqual(quick.returncode, 0, quick.stderr)
        never = sandbox("--delay", "pod-ready=1h", "--", FAIRLEAD, "apply", "-f", "-", "--timeout", "1s",
                        input=json.dumps(config))
        self.assertEqual(never.returncode, 3, never.stderr)
        wrong = sandbox("--delay", "nope=1s", "--", "true")
        self.assertEqual(wrong.returncode, 64)
        self.assertIn("error: --delay: unknown delay nope\n  next      use one of crd-names-accepted, ", wrong.stderr)

    def test_in_and_out_again(self):
        config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "b"}}
        for bundle, way in (("", "-f config.json"), ("", "configmap/a"), ("--name shop", "--name shop")):
            with self.subTest(way), tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "config.json").write_text(json.dumps(config))
                result = sandbox("--", "sh", "-ec", f"""
                    {FAIRLEAD} apply -f config.json {bundle}
                    {FAIRLEAD} delete {way} --journal out.jsonl
                    {FAIRLEAD} delete -f config.json -o quiet""", cwd=folder)
                self.assertEqual(result.returncode, 0, result.stderr)
                lines = result.stdout.splitlines()
                self.assertIn("ConfigMap default/a created", lines)
                self.assertIn("ConfigMap default/a deleted", lines)
                events = [json.loads(line) for line in (pathlib.Path(folder) / "out.jsonl").read_text().splitlines()]
                self.assertIn(("removed", "a"), [(one["event"], one.get("object", {}).get("name")) for one in events])

    def test_a_journal_that_cannot_be_written(self):
        config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
        result = sandbox("--", FAIRLEAD, "apply", "-f", "-", "--journal", "/dev/full", input=json.dumps(config))
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertEqual(result.stderr, "error: the journal /dev/full cannot be written\n"
                                        "  because   No space left on device\n")

    def test_a_webhook_in_its_own_pods_answers_and_nothing_else_is_called(self):
        service = {"service": {"name": "hook", "namespace": "default"}, "caBundle": base64.b64encode(
            b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").decode()}
        done = sandbox("--", FAIRLEAD, "apply", "-f", "-", "--timeout", "20s", input=guarded(service))
        self.assertEqual(done.returncode, 0, done.stderr)
        elsewhere = sandbox("--", FAIRLEAD, "apply", "-f", "-", "--timeout", "2s",
                            input=guarded({"url": "https://203.0.113.7/validate"}))
        self.assertEqual(elsewhere.returncode, 3, elsewhere.stderr)
        self.assertIn("dial tcp 203.0.113.7:443: connect: no route to host (the sandbox calls only this machine; "
                      "fairlead sandbox --allow-outside-calls lets it call other addresses)", elsewhere.stderr)
        self.assertEqual(elsewhere.stderr.count("error: "), 1, elsewhere.stderr)


def guarded(client_config):
    """A webhook, the pods of a Service, and a ConfigMap that the webhook guards."""
    labels = {"app": "hook"}
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook"},
         "spec": {"selector": labels, "ports": [{"port": 443, "targetPort": 8443}]}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "hook"},
         "spec": {"selector": {"matchLabels": labels}, "template": {
             "metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}},
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "hook"},
         "webhooks": [{"name": "v.example.com", "clientConfig": client_config, "sideEffects": "None",
                       "admissionReviewVersions": ["v1"], "objectSelector": {"matchLabels": {"guarded": "yes"}},
                       "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                                  "resources": ["configmaps"]}]}]},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "guarded", "labels": {"guarded": "yes"}}}]})


unittest.main()
