"""The admission server in real pods of the image that `./dev image` makes, installed as `fairlead webhook manifests` says: operators
of the whole cluster and of one namespace together, and what becomes of the namespace when its own operator is killed; an upgrade while
objects arrive, a controller instead of a webhook, and what an uninstallation leaves.

A whole cluster is brought up for it, unless FAIRLEAD_PODS_CLUSTER names one.
"""
import base64
import datetime
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest

import yaml

from tests.scripts.image_in_cluster import cluster_tool, cluster_with_image

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAIRLEAD = os.environ["FAIRLEAD"]
LEASE = "dynamo-operator-ns-lock"
# What the schemas of the CRDs let pass and the policies do not, with the words of the refusal; and what everybody accepts.
BAD = {"DynamoModel": ({"modelName": "m", "baseModelName": "b", "modelType": "lora"}, "source"),
       "DynamoComponentDeployment": ({"ingress": {"enabled": True}}, "ingress.host"),
       "DynamoGraphDeployment": ({"services": {"a": {"ingress": {"enabled": True}}}}, "ingress.host")}
GOOD = {"DynamoModel": {"modelName": "m", "baseModelName": "b"},
        "DynamoComponentDeployment": {"replicas": 1},
        "DynamoGraphDeployment": {"services": {"a": {"replicas": 1}}}}
# What the server has made while it ran, and the service account that every namespace has.
LEFT = ["lease.coordination.k8s.io/platform-webhook", "secret/platform-webhook-server-cert", "secret/platform-webhook-server-cert-ca",
        "serviceaccount/default"]


def certificates(folder, host):
    """A CA and a certificate for the host, as the user of certificateSecret.external has them."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=ca", "-days", "90")
    openssl("req", *key, "-keyout", "tls.key", "-out", "tls.csr", "-subj", "/CN=hook")
    (folder / "names").write_text(f"subjectAltName=DNS:{host}\n")
    openssl("x509", "-req", "-in", "tls.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-out", "tls.crt", "-days", "60", "-extfile", "names")
    return {name: base64.b64encode((folder / name).read_bytes()).decode() for name in ("tls.crt", "tls.key", "ca.crt")}


class Pods(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.cluster = cluster_with_image(cls, "pods")
        cls.env = {**os.environ, "KUBECONFIG": cluster_tool("kubeconfig", "--name", cls.cluster)}
        cls.install("platform", "platform-system")
        cls.install("team", "team-a", "namespaceRestriction.enabled=true", external=True)
        cls.apply_all({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-b"}})

    @classmethod
    def run_fairlead(cls, *arguments, stdin=""):
        return subprocess.run([FAIRLEAD, *arguments], input=stdin, capture_output=True, text=True, timeout=240, env=cls.env)

    @classmethod
    def kubectl(cls, *arguments, stdin=None):
        return subprocess.run([ROOT / "cluster/cluster", "kubectl", "--name", cls.cluster, *arguments], input=stdin,
                              capture_output=True, text=True, timeout=120)

    @classmethod
    def apply_all(cls, *objects, flags=()):
        done = cls.run_fairlead("apply", "--timeout", "3m", *flags, "-f", "-", stdin="---\n".join(json.dumps(one) + "\n" for one in objects))
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)

    @classmethod
    def install(cls, release, namespace, *values, external=False):
        """With certificates that the user brings, or that the server makes."""
        settings = [*values, "webhook.image.repository=fairlead.dev/fairlead", "webhook.image.tag=test", "webhook.image.pullPolicy=Never"]
        objects = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}]
        if external:
            folder = cls.folder / release
            folder.mkdir()
            pair = certificates(folder, f"{release}-webhook.{namespace}.svc")
            settings += ["webhook.certificateSecret.external=true", f"webhook.caBundle={pair['ca.crt']}"]
            objects.append({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "data": pair,
                            "metadata": {"name": f"{release}-webhook-server-cert", "namespace": namespace}})
        made = cls.run_fairlead("webhook", "manifests", "--release", release, "-n", namespace,
                                *(word for value in settings for word in ("--set", value)))
        if made.returncode != 0:
            raise AssertionError(made.stderr)
        made = list(filter(None, yaml.safe_load_all(made.stdout)))
        definitions = [one for one in made if one["kind"] == "CustomResourceDefinition"]
        # The namespace and the CRDs are not the installation's alone: an uninstallation leaves them.
        cls.apply_all(*objects, *definitions)
        cls.apply_all(*(one for one in made if one not in definitions), flags=("--name", release, "--prune"))

    def create(self, kind, spec, namespace):
        """Why the object would not be stored; empty if it would be."""
        thing = {"apiVersion": "nvidia.com/v1alpha1", "kind": kind, "metadata": {"name": "x", "namespace": namespace}, "spec": spec}
        return self.kubectl("create", "--dry-run=server", "-f", "-", stdin=json.dumps(thing)).stderr

    def decisions(self, release, namespace):
        """The decisions of the release's pods on objects of the namespace, as their logs have them."""
        pods = json.loads(self.kubectl("get", "pods", "-n", "platform-system" if release == "platform" else "team-a", "-o", "json").stdout)
        lines = []
        for pod in pods["items"]:
            text = self.kubectl("logs", "-n", pod["metadata"]["namespace"], pod["metadata"]["name"]).stdout
            lines += [json.loads(line) for line in text.splitlines()]
        return {line["decision"] for line in lines if line["message"] == "review" and line.get("namespace") == namespace}

    def eventually(self, what, condition, seconds):
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"{what}: not within {seconds} s")
            time.sleep(0.2)

    def lease(self):
        found = self.kubectl("get", "lease", LEASE, "-n", "team-a", "-o", "json")
        return json.loads(found.stdout)["spec"] if found.returncode == 0 else {}

    def renewed(self):
        return datetime.datetime.fromisoformat(self.lease()["renewTime"]).timestamp()

    def test_1_each_operator_decides_on_its_own(self):
        self.eventually("the Lease is held", lambda: self.lease().get("holderIdentity", "").startswith("team-webhook-"), 60)
        self.eventually("the namespace is left to its operator",
                        lambda: not self.create("DynamoModel", GOOD["DynamoModel"], "team-a")
                        and "elsewhere" in self.decisions("platform", "team-a"), 60)
        for namespace in ("team-a", "team-b"):
            for kind, (spec, words) in BAD.items():
                with self.subTest(namespace=namespace, kind=kind):
                    self.assertIn(words, self.create(kind, spec, namespace))
                    self.assertEqual(self.create(kind, GOOD[kind], namespace), "")
        with self.subTest("what cannot be changed cannot be changed with webhooks either"):
            self.apply_all({"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoModel", "metadata": {"name": "fixed", "namespace": "team-b"},
                            "spec": GOOD["DynamoModel"]}, flags=("--no-wait",))
            self.assertIn("immutable", self.change_base_model("fixed"))
        self.assertEqual(self.decisions("team", "team-b"), set())
        self.assertEqual(self.decisions("platform", "team-b"), {"allowed", "denied"})
        self.assertEqual(self.decisions("team", "team-a"), {"allowed", "denied"})

    def secret(self):
        found = self.kubectl("get", "secret", "platform-webhook-server-cert", "-n", "platform-system", "-o", "json")
        return json.loads(found.stdout)["data"] if found.returncode == 0 else {}

    def test_3_a_secret_that_was_deleted_is_healed(self):
        before = self.secret()
        self.assertEqual(sorted(before), ["ca.crt", "tls.crt", "tls.key"])
        self.assertEqual(self.kubectl("delete", "secret", "platform-webhook-server-cert", "-n", "platform-system").returncode, 0)
        self.eventually("there is a Secret again", lambda: sorted(self.secret()) == sorted(before), 90)
        self.assertEqual(self.secret()["ca.crt"], before["ca.crt"], "a Secret is healed without a new CA")
        spec, words = BAD["DynamoModel"]
        self.assertIn(words, self.create("DynamoModel", spec, "team-b"))
        self.assertEqual(self.create("DynamoModel", GOOD["DynamoModel"], "team-b"), "")

    def test_2_a_namespace_whose_operator_was_killed_is_taken_over(self):
        self.kubectl("scale", "deployment", "team-webhook", "-n", "team-a", "--replicas=0")
        self.kubectl("delete", "pods", "-n", "team-a", "--all", "--grace-period=0", "--force")
        self.eventually("the Lease is not renewed any more", lambda: time.time() - self.renewed() > 15, 60)
        # Its own webhook would refuse everything: whoever removes the operator removes that, too. A server that still runs
        # would not be ready without it, and release the Lease.
        self.kubectl("delete", "validatingwebhookconfiguration", "team-validating-team-a")
        self.assertNotEqual(self.lease().get("holderIdentity"), "", "the Lease was released: the operator was not killed")
        spec, words = BAD["DynamoModel"]
        self.eventually("the operator of the cluster decides", lambda: words in self.create("DynamoModel", spec, "team-a"), 90)
        self.assertEqual(self.create("DynamoModel", GOOD["DynamoModel"], "team-a"), "")

    def configuration(self):
        found = self.kubectl("get", "validatingwebhookconfiguration", "platform-validating", "-o", "json")
        self.assertEqual(found.returncode, 0, found.stderr)
        return [(one["timeoutSeconds"], one["clientConfig"].get("caBundle")) for one in json.loads(found.stdout)["webhooks"]]

    def pods(self):
        return {one["metadata"]["name"] for one in json.loads(self.kubectl("get", "pods", "-n", "platform-system", "-o", "json").stdout)["items"]}

    def test_4_an_upgrade_refuses_nothing_that_is_valid_and_lets_nothing_else_pass(self):
        before, bundle = self.pods(), self.configuration()[0][1]
        self.assertTrue(bundle)
        answers, ended = [], threading.Event()

        def keep_asking():
            while not ended.is_set():
                answers.append((self.create("DynamoModel", GOOD["DynamoModel"], "team-b"),
                                self.create("DynamoModel", BAD["DynamoModel"][0], "team-b")))

        asking = threading.Thread(target=keep_asking)
        asking.start()
        try:
            self.install("platform", "platform-system", "webhook.timeoutSeconds=7,webhook.maxInFlight=100")
        finally:
            ended.set()
            asking.join()
        self.assertTrue(answers)
        self.assertEqual({good for good, _ in answers}, {""})
        for _, bad in answers:
            self.assertIn(BAD["DynamoModel"][1], bad)
        self.assertEqual(self.configuration(), [(7, bundle)] * 3)
        self.eventually("the old pods have ended", lambda: not before & self.pods(), 120)

    def test_5_without_webhooks_a_controller_says_what_is_invalid(self):
        self.install("platform", "platform-system", "webhook.enabled=false")
        self.assertNotEqual(self.kubectl("get", "validatingwebhookconfiguration", "platform-validating").returncode, 0)
        spec, words = BAD["DynamoModel"]
        model = {"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoModel", "metadata": {"name": "bad", "namespace": "team-b"}, "spec": spec}
        made = self.kubectl("create", "-f", "-", stdin=json.dumps(model))
        self.assertEqual(made.returncode, 0, made.stderr)
        self.eventually("the object is said to be invalid", lambda: words in self.valid("message") and self.valid("status") == "False", 60)
        # A field that cannot be changed is the schema's affair, with webhooks or without.
        self.assertIn("immutable", self.change_base_model("bad"))

    def change_base_model(self, model):
        """Why that is refused."""
        return self.kubectl("patch", "dynamomodel", model, "-n", "team-b", "--type=merge", "-p", '{"spec": {"baseModelName": "other"}}').stderr

    def valid(self, field):
        path = '{.status.conditions[?(@.type=="Valid")].' + field + "}"
        return self.kubectl("get", "dynamomodel", "bad", "-n", "team-b", "-o", f"jsonpath={path}").stdout

    def test_6_an_uninstallation_leaves_the_secrets_and_leases_alone(self):
        done = self.run_fairlead("delete", "--name", "platform", "--timeout", "3m", "--yes")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        left = self.kubectl("get", "deployments,services,roles,serviceaccounts,leases,secrets", "-n", "platform-system", "-o", "name").stdout
        self.assertEqual(sorted(left.split()), LEFT)


if __name__ == "__main__":
    unittest.main()
