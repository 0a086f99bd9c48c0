"""deploy/chart makes the same objects as `fairlead webhook manifests`, for a table of values, and refuses the same ones.

helm is built from its Go module (about two minutes, once). No cluster is needed.
"""
import base64
import json
import os
import pathlib
import subprocess
import tempfile
import typing
import unittest

import yaml

from peers import peers
from tests.cli.on_sandbox import sandbox

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy/chart"
FAIRLEAD = os.environ["FAIRLEAD"]
Values = dict[str, typing.Any]


def a_certificate():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "k",
                        "-out", "c", "-subj", "/CN=ca"], cwd=folder, check=True, capture_output=True)
        return (pathlib.Path(folder) / "c").read_bytes()


BUNDLE = base64.b64encode(a_certificate()).decode()
EXTERNAL: Values = {"certificateSecret": {"external": True, "name": "mine"}, "caBundle": BUNDLE}

SAME: dict[str, Values] = {
    "defaults": {},
    "below dynamo-operator": {"dynamo-operator": {"webhook": {"failurePolicy": "Ignore", "timeoutSeconds": 3},
                                                  "kubernetesClusterDomain": "example.org"}},
    # The example of Dynamo's own guide: a value that is false or empty counts as well.
    "no webhook below dynamo-operator": {"dynamo-operator": {"webhook": {"enabled": False}}},
    "empty values below dynamo-operator": {"dynamo-operator": {
        "webhook": {"podDisruptionBudget": {"enabled": False}, "plannerServiceAccount": "", "resources": {"limits": {"memory": "1Gi"}}},
        "namespaceRestriction": {"lease": {"name": ""}}}},
    "cert-manager": {"webhook": {"certManager": {"enabled": True}}},
    "cert-manager with an issuer": {"webhook": {"certManager": {
        "enabled": True, "issuerRef": {"kind": "ClusterIssuer", "name": "company"},
        "certificate": {"duration": "1h30m", "renewBefore": "30m", "rootCA": {"duration": "100h", "renewBefore": "1.5h"}}}}},
    "external": {"webhook": EXTERNAL},
    "hooks": {"webhook": {"certGenerator": {"enabled": True}, "certificateValidity": 365}},
    "hooks with an image": {"webhook": {"certGenerator": {
        "enabled": True, "image": {"repository": "r/tools", "tag": "v1", "pullPolicy": "Always"}}}},
    "hooks without a webhook": {"webhook": {"enabled": False, "certGenerator": {"enabled": True}}},
    "restricted": {"namespaceRestriction": {"enabled": True}},
    "restricted to another namespace": {"namespaceRestriction": {"enabled": True, "targetNamespace": "team-a", "lease": {
        "name": "lock", "duration": "20s", "renewInterval": "500ms"}}, "webhook": {"namespaceSelector": {"matchLabels": {"a": "b"}}}},
    "restricted to a namespace that is a number": {"namespaceRestriction": {"enabled": True, "namespace": "123"}},
    "restricted with external certificates": {"namespaceRestriction": {"enabled": True}, "webhook": EXTERNAL},
    "selector": {"webhook": {"namespaceSelector": {"matchExpressions": [{"key": "x", "operator": "NotIn", "values": ["z"]}]}}},
    "controller": {"webhook": {"enabled": False}},
    "controller of a namespace": {"webhook": {"enabled": False, "replicas": 3},
                                  "namespaceRestriction": {"enabled": True, "namespace": "team-a"}},
    "no namespace is left to others": {"namespaceRestriction": {"lease": {"name": ""}}},
    "serving": {"webhook": {"clientCA": {"configMap": "apiserver-ca", "key": "client.pem"}, "maxInFlight": 500, "logReviews": "none",
                            "drain": {"duration": "500ms", "limit": "1m0.5s"}, "extraArgs": ["--workers=4", "--address=::"]}},
    "serving without a webhook": {"webhook": {"enabled": False, "clientCA": {"configMap": "x"}, "extraArgs": ["-v"]}},
    "leader election elsewhere": {"leaderElection": {"id": "dynamo.nvidia.com", "namespace": "kube-system"}},
    "accounts": {"webhook": {"operatorServiceAccount": "dynamo-system:operator", "plannerServiceAccount": ""}},
    "one replica": {"webhook": {"replicas": 1}},
    "nothing around it": {"webhook": {"podDisruptionBudget": {"enabled": False}, "networkPolicy": {"enabled": False},
                                      "resources": {"limits": {"memory": None, "cpu": "1"}, "requests": None}}},
    "pods": {"webhook": {
        "image": {"repository": "registry:5000/fairlead", "tag": "1.20", "pullPolicy": "Never"}, "imagePullSecrets": [{"name": "s"}],
        "nodeSelector": {"a/b": "true"}, "tolerations": [{"operator": "Exists", "tolerationSeconds": 5}],
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
        "priorityClassName": "system-cluster-critical", "podLabels": {"team": "a", "n": "1"},
        "podAnnotations": {"prometheus.io/scrape": "true"}, "certGenerator": {"enabled": True},
        "affinity": {"nodeAffinity": {}}, "serviceAccount": {"annotations": {"iam": "role"}}}},
}

# The values, and words that both say.
REFUSED: dict[str, tuple[Values, str, str]] = {
    "unknown key": ({"webhook": {"failure": 1}}, "webhook.failure", "'failure' not allowed"),
    "unknown key below": ({"dynamo-operator": {"x": 1}}, "dynamo-operator.x", "'x' not allowed"),
    "type": ({"webhook": {"enabled": "yes"}}, "webhook.enabled must be true or false", "/webhook/enabled"),
    "enum": ({"webhook": {"failurePolicy": "fail"}}, "webhook.failurePolicy must be Fail or Ignore", "/webhook/failurePolicy"),
    "range": ({"webhook": {"timeoutSeconds": 31}}, "webhook.timeoutSeconds must be 1 to 30", "/webhook/timeoutSeconds"),
    "validity": ({"webhook": {"certificateValidity": 30}}, "webhook.certificateValidity must be", "/webhook/certificateValidity"),
    "a bundle that only begins": (
        {"webhook": {"certificateSecret": {"external": True}, "caBundle": base64.b64encode(b"-----BEGIN CERTIFICATE-----\n").decode()}},
        "webhook.caBundle must be the base64 of certificates in PEM", "webhook.caBundle must be the base64 of certificates in PEM"),
    "name": ({"leaderElection": {"id": "A"}}, "leaderElection.id must be a name", "/leaderElection/id"),
    "account": ({"webhook": {"operatorServiceAccount": "x"}}, "operatorServiceAccount must be", "/webhook/operatorServiceAccount"),
    "selector": ({"webhook": {"namespaceSelector": {"foo": "bar"}}}, "unknown key webhook.namespaceSelector.foo", "'foo' not allowed"),
    "expressions": ({"webhook": {"namespaceSelector": {"matchExpressions": "x"}}}, "matchExpressions must be a list", "/matchExpressions"),
    "operator": ({"webhook": {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Is", "values": ["b"]}]}}},
                 "matchExpressions[0].operator must be In, NotIn", "/matchExpressions/0"),
    "operator without values": ({"webhook": {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}},
                                "matchExpressions[0].values must have a value", "/matchExpressions/0"),
    "label of a selector": ({"webhook": {"namespaceSelector": {"matchLabels": {"a": 1}}}}, "matchLabels.a must be a string", "/matchLabels/a"),
    "node label": ({"webhook": {"nodeSelector": {"a": True}}}, "webhook.nodeSelector.a must be a string", "/nodeSelector/a"),
    "pod label": ({"webhook": {"podLabels": {"a b": "x"}}}, 'webhook.podLabels: label "a b"', "propertyName 'a b'"),
    "annotation": ({"webhook": {"podAnnotations": {"a": 1}}}, "webhook.podAnnotations.a must be a string", "/podAnnotations/a"),
    "repository": ({"webhook": {"image": {"repository": "a b;rm"}}}, "webhook.image.repository must be", "/image/repository"),
    "tag": ({"webhook": {"image": {"tag": "a b"}}}, "webhook.image.tag must be", "/image/tag"),
    "argument": ({"webhook": {"extraArgs": [1]}}, "webhook.extraArgs must be a list of strings", "/extraArgs/0"),
    "tolerations": ({"webhook": {"tolerations": ["x"]}}, "webhook.tolerations must be a list of mappings", "/tolerations/0"),
    "in flight": ({"webhook": {"maxInFlight": 0}}, "webhook.maxInFlight must be 1 to 100000", "/maxInFlight"),
    "log": ({"webhook": {"logReviews": "some"}}, "webhook.logReviews must be all or not-allowed or none", "/logReviews"),
    "duration": ({"namespaceRestriction": {"lease": {"duration": "30"}}}, "lease.duration must be a duration", "/lease/duration"),
}
CONTRADICTIONS: dict[str, Values] = {
    "webhook.certificateSecret.external and webhook.certManager.enabled contradict each other":
        {"webhook": {**EXTERNAL, "certManager": {"enabled": True}}},
    "webhook.caBundle is required when webhook.certificateSecret.external is true":
        {"webhook": {"certificateSecret": {"external": True}}},
    "webhook.caBundle is only for webhook.certificateSecret.external": {"webhook": {"caBundle": BUNDLE}},
    "webhook.caBundle must be the base64 of certificates in PEM":
        {"webhook": {"certificateSecret": {"external": True}, "caBundle": "YQ=="}},
    "webhook.certGenerator.image must have fairlead in it, which the hooks run, and not kubectl":
        {"webhook": {"certGenerator": {"enabled": True, "image": {"repository": "bitnami/kubectl", "tag": "latest"}}}},
    "webhook.certManager.issuerRef.kind needs a webhook.certManager.issuerRef.name":
        {"webhook": {"certManager": {"enabled": True, "issuerRef": {"kind": "ClusterIssuer"}}}},
    "webhook.certManager.issuerRef.group needs a webhook.certManager.issuerRef.name":
        {"webhook": {"certManager": {"enabled": True, "issuerRef": {"group": "example.com"}}}},
    "webhook.certificateSecret.name must not be rel-webhook-ca: the CA is in that Secret":
        {"webhook": {"certManager": {"enabled": True}, "certificateSecret": {"name": "rel-webhook-ca"}}},
    "leaderElection.id and namespaceRestriction.lease.name must not be the same": {"leaderElection": {"id": "dynamo-operator-ns-lock"}},
    "leaderElection.id and namespaceRestriction.lease.name must not be": {"namespaceRestriction": {"lease": {"name": "rel-webhook"}}},
    "namespaceRestriction.lease.name is empty, and an operator for one namespace has to hold that Lease":
        {"namespaceRestriction": {"enabled": True, "lease": {"name": ""}}},
    "webhook.podLabels must not have app.kubernetes.io/name: the Service selects by it":
        {"webhook": {"podLabels": {"app.kubernetes.io/name": "x"}}},
    "webhook.drain.limit must be at least webhook.drain.duration, and at most 1h":
        {"webhook": {"drain": {"duration": "20s", "limit": "5s"}}},
    "webhook.certGenerator.enabled is only for certificates that Fairlead makes itself":
        {"webhook": {"certManager": {"enabled": True}, "certGenerator": {"enabled": True}}},
    "namespaceRestriction.namespace and namespaceRestriction.targetNamespace contradict each other":
        {"namespaceRestriction": {"enabled": True, "namespace": "a", "targetNamespace": "b"}},
    "a namespace is given, and namespaceRestriction.enabled is false": {"namespaceRestriction": {"namespace": "a"}},
    "webhook.certManager.certificate.duration must be at least 1h":
        {"webhook": {"certManager": {"certificate": {"duration": "59m", "renewBefore": "1m"}}}},
    "webhook.certManager.certificate.renewBefore must be shorter than the duration":
        {"webhook": {"certManager": {"certificate": {"renewBefore": "8760h"}}}},
    "webhook.certManager.certificate.rootCA.renewBefore must be shorter than the duration":
        {"webhook": {"certManager": {"certificate": {"rootCA": {"duration": "700h"}}}}},
    "webhook.certManager.certificate.duration must not be longer than the CA lasts":
        {"webhook": {"certManager": {"certificate": {"duration": "87600h"}}}},
    "namespaceRestriction.lease.duration must be whole seconds, and at least 3s":
        {"namespaceRestriction": {"lease": {"duration": "2500ms", "renewInterval": "500ms"}}},
    "namespaceRestriction.lease.renewInterval must be at least 500ms, and at most half of the duration":
        {"namespaceRestriction": {"lease": {"renewInterval": "16s"}}},
}
for text, values in CONTRADICTIONS.items():
    REFUSED[text] = (values, text, text)


def by_key(objects):
    found = {}
    for one in objects:
        metadata = one["metadata"]
        key = one["kind"], metadata.get("namespace", ""), metadata["name"]
        assert key not in found, f"{key} is there twice"
        found[key] = one
    return found


def keys_of(value, path=""):
    """The paths of everything in it that has no members."""
    if not isinstance(value, dict) or not value:
        return {path}
    return {key for name, member in value.items() for key in keys_of(member, f"{path}.{name}")}


def schema_keys(schema, path=""):
    if "properties" not in schema:
        return {path}
    return {key for name, member in schema["properties"].items() for key in schema_keys(member, f"{path}.{name}")}


class Chart(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.helm_binary = peers.binary("helm4")
        if cls.helm_binary is None:
            raise AssertionError("helm cannot be built here")
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.env = {**os.environ, "HOME": str(cls.folder), **peers.helm_homes(cls.folder)}

    def run_with(self, values, *command):
        file = self.folder / "values.yaml"
        file.write_text(yaml.safe_dump(values))
        return subprocess.run([*command, "--values", str(file), "--namespace", "dynamo-system"], capture_output=True, text=True,
                              timeout=60, env=self.env)

    def helm(self, values, release="rel", *flags):
        return self.run_with(values, self.helm_binary, "template", release, str(CHART), "--include-crds", *flags)

    def fairlead(self, values, release="rel", *flags):
        return self.run_with(values, FAIRLEAD, "webhook", "manifests", "--release", release, *flags)

    def assert_same(self, values, release="rel", *flags):
        helm, fairlead = self.helm(values, release, *flags), self.fairlead(values, release, *flags)
        self.assertEqual((helm.returncode, fairlead.returncode), (0, 0), helm.stderr + fairlead.stderr)
        expected, made = (by_key(one for one in yaml.safe_load_all(result.stdout) if one) for result in (helm, fairlead))
        self.assertEqual(sorted(expected), sorted(made))
        for key, one in expected.items():
            self.assertEqual(one, made[key], key)

    def test_both_make_the_same_objects(self):
        for name, values in SAME.items():
            with self.subTest(name):
                self.assert_same(values)

    def test_both_merge_files_and_flags_in_the_same_way(self):
        below = self.folder / "below.yaml"
        below.write_text(yaml.safe_dump({"dynamo-operator": {"webhook": {"failurePolicy": "Fail", "timeoutSeconds": 5}}}))
        # The file of these values comes last.
        self.assert_same({"webhook": {"failurePolicy": "Ignore", "timeoutSeconds": 7}}, "rel", "--values", str(below))
        self.assert_same({}, "rel", "--set", r"webhook.nodeSelector.kubernetes\.io/os=linux,webhook.replicas=3",
                         "--set", r"webhook.extraArgs={--a=1\,2,-b},webhook.tolerations[0].key=x,webhook.tolerations[0].operator=Exists",
                         "--set-string", "webhook.image.tag=20,webhook.podAnnotations.a=true",
                         "--set", "dynamo-operator.webhook.timeoutSeconds=9,webhook.timeoutSeconds=8")

    def test_nothing_is_made_of_what_is_in_a_cluster_or_of_chance(self):
        """`lookup` finds nothing under `helm template`, as Argo CD runs it, and a key that a template makes is another one each time."""
        for file in (CHART / "templates").iterdir():
            for function in ("lookup", "genCA", "genSelfSignedCert", "genSignedCert", "genPrivateKey", "rand", "uuidv4", "now"):
                self.assertNotRegex(file.read_text(), rf"(?<![\w.$-]){function}\w*\s", file.name)
        self.assertEqual(self.helm({}).stdout, self.helm({}).stdout)

    def test_an_upgrade_keeps_what_others_registered(self):
        """The chart renders no caBundle, so neither of Helm's ways to upgrade takes it away, or conflicts with its owner."""
        kubectl = pathlib.Path(os.environ["FAIRLEAD_CLUSTER_BIN"]) / "kubectl"
        kubeconfig = self.folder / "kubeconfig"
        env = {**self.env, "KUBECONFIG": str(kubeconfig)}

        def run(*command):
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return done.stdout

        def hooks(release):
            found = json.loads(run(kubectl, "get", "validatingwebhookconfiguration", f"{release}-validating", "-o", "json"))
            return [(one["timeoutSeconds"], one["clientConfig"].get("caBundle")) for one in found["webhooks"]]

        with sandbox(kubeconfig):
            for release, server_side in (("merged", "false"), ("applied", "true")):
                flags = (release, str(CHART), "--namespace", "default", f"--server-side={server_side}", "--skip-crds")
                run(self.helm_binary, "install", *flags)
                self.assertEqual(hooks(release), [(10, None)] * 3)
                names = ("--service", f"{release}-webhook", "--secret", f"{release}-webhook-server-cert")
                run(FAIRLEAD, "certs", "ensure", *names)
                run(FAIRLEAD, "certs", "inject", *names, "--configuration", f"{release}-validating")
                [(_, bundle)] = set(hooks(release))
                self.assertTrue(bundle)
                run(self.helm_binary, "upgrade", *flags, "--set", "webhook.timeoutSeconds=7")
                self.assertEqual(hooks(release), [(7, bundle)] * 3, release)

    def test_a_release_may_be_a_number(self):
        self.assert_same({"webhook": {"certGenerator": {"enabled": True}}, "namespaceRestriction": {"enabled": True}}, "42")

    def test_both_refuse_the_same_values(self):
        for name, (values, ours, theirs) in REFUSED.items():
            with self.subTest(name):
                helm, fairlead = self.helm(values), self.fairlead(values)
                self.assertEqual((helm.returncode != 0, fairlead.returncode), (True, 1), helm.stdout + fairlead.stdout)
                self.assertIn(ours, fairlead.stderr)
                self.assertIn(theirs, helm.stderr)

    def test_the_schema_has_the_keys_of_the_values(self):
        values = yaml.safe_load((CHART / "values.yaml").read_text())
        del values["dynamo-operator"]
        values["webhook"]["resources"] = {}
        schema = json.loads((CHART / "values.schema.json").read_text())
        definitions = schema["definitions"]
        self.assertEqual(schema_keys({"properties": definitions}), keys_of(values))
        references = {name: {"$ref": f"#/definitions/{name}"} for name in definitions}
        self.assertEqual(schema["properties"]["dynamo-operator"]["properties"], references)

    def test_a_selector_that_is_ignored_is_warned_about(self):
        result = self.fairlead({"namespaceRestriction": {"enabled": True}, "webhook": {"namespaceSelector": {"matchLabels": {"a": "b"}}}})
        self.assertEqual(result.stderr, "warning: webhook.namespaceSelector is ignored: with namespaceRestriction, only namespace "
                                        "dynamo-system is checked\n")

    def test_the_version_is_that_of_the_chart(self):
        result = subprocess.run([FAIRLEAD, "version"], capture_output=True, text=True, check=True)
        self.assertIn(yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"], result.stdout)


unittest.main()
