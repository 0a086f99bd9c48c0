"""`fairlead webhook controller` as it is installed with webhook.enabled=false, with the rights that the manifests give it.

Runs on the cluster of $KUBECONFIG: a real one, or `fairlead sandbox -- python3 -m tests.webhook.controller_test`.
"""
import json
import os
import pathlib
import signal
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAIRLEAD = os.environ["FAIRLEAD"]
NAMESPACE = f"controller-{os.getpid()}"


def fairlead(*arguments, stdin=""):
    return subprocess.run([FAIRLEAD, *arguments], input=stdin, capture_output=True, text=True, timeout=60)


def model(name, **spec):
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoModel", "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"modelName": "m", "baseModelName": "b", **spec}}


class Controller(unittest.TestCase):
    maxDiff = None

    def must(self, *arguments, stdin=""):
        result = fairlead(*arguments, stdin=stdin)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def apply(self, *objects):
        self.must("apply", "--no-wait", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def setUp(self):
        space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        self.apply(space)
        self.addCleanup(fairlead, "delete", "--no-wait", "-y", "-f", "-", stdin=json.dumps(space))

    def start(self, *sets):
        """Runs it as the account that the manifests make, without the pods that they would make as well."""
        flags = [flag for each in ("webhook.enabled=false", *sets) for flag in ("--set", each)]
        manifests = json.loads(self.must("webhook", "manifests", "-n", NAMESPACE, "--release", NAMESPACE, *flags, "-o", "json"))
        objects = [one for one in manifests["items"] if one["kind"] not in ("Deployment", "NetworkPolicy")]
        [deployment] = [one for one in manifests["items"] if one["kind"] == "Deployment"]
        self.must("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        of_the_cluster = {"apiVersion": "v1", "kind": "List", "items": [one for one in objects if one["kind"].startswith("ClusterRole")]}
        if of_the_cluster["items"]:
            self.addCleanup(fairlead, "delete", "-y", "-f", "-", stdin=json.dumps(of_the_cluster))
        arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        account = f"system:serviceaccount:{NAMESPACE}:{NAMESPACE}-webhook"
        process = subprocess.Popen([FAIRLEAD, *arguments, "--as", account], stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_it_tells_valid_and_invalid_objects_apart(self):
        process = self.start()
        self.apply(model("good"), model("bad", modelType="lora"))
        self.must("wait", "dynamomodel/bad", "-n", NAMESPACE, "--for", "condition=Valid=False", "--timeout", "30s")
        self.must("wait", "dynamomodel/good", "-n", NAMESPACE, "--for", "condition=Valid", "--timeout", "30s")
        self.apply(model("bad", modelType="lora", source={"uri": "hf://m"}))
        self.must("wait", "dynamomodel/bad", "-n", NAMESPACE, "--for", "condition=Valid", "--timeout", "30s")
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0, output)
        lines = [line for line in output.splitlines() if NAMESPACE in line]
        self.assertCountEqual(lines, [
            f"DynamoModel {NAMESPACE}/bad is invalid: spec.source is required when modelType is 'lora'",
            f"DynamoModel {NAMESPACE}/bad is valid", f"DynamoModel {NAMESPACE}/good is valid"])

    def test_in_one_namespace_it_needs_rights_there_alone(self):
        self.start("namespaceRestriction.enabled=true")
        self.apply(model("bad", modelType="lora"))
        self.must("wait", "dynamomodel/bad", "-n", NAMESPACE, "--for", "condition=Valid=False", "--timeout", "30s")


unittest.main()
