"""A stack as people write it, torn down and brought up again on a real cluster: an operator from a chart, a ClusterSecretStore, and four
ExternalSecrets. The operator is one of ours that behaves like External Secrets: its pod is Ready before its webhook listens.

./dev pulumi --cluster sets what is needed; on_pulumi.py says what that is.
"""
import base64
import json

from tests.manifests import named
from tests.pulumi.on_pulumi import IN_NODE, IN_PYTHON, OnCluster
from tests.rollout.late_webhook import IMAGE, certificate

GROUP = "external-secrets.io"
HOME = "external-secrets"
SERVICE = f"{HOME}-webhook"
NAMESPACES = ["default", "hello-world", "nodejs-demo", "storage-validator"]
ROUNDS = 10


def definition(kind, scope):
    singular = kind.lower()
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{singular}s.{GROUP}", spec={
        "group": GROUP, "scope": scope, "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        "names": {"kind": kind, "listKind": f"{kind}List", "plural": f"{singular}s", "singular": singular}})


def hook(singular, authority):
    return {"name": f"validate.{singular}.{GROUP}", "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
            "timeoutSeconds": 5,
            "clientConfig": {"service": {"name": SERVICE, "namespace": HOME, "path": "/validate"}, "caBundle": authority},
            "rules": [{"apiGroups": [GROUP], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE", "DELETE"], "resources": [f"{singular}s"]}]}


def operator():
    """The templates of the chart."""
    pem, key = certificate(f"{SERVICE}.{HOME}.svc")
    authority = base64.b64encode(pem).decode()
    labels = {"app": SERVICE}
    container = {"name": "webhook", "image": IMAGE, "imagePullPolicy": "Never", "args": ["webhook", "-late", "4s"],
                 "readinessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 1},
                 "volumeMounts": [{"name": "certificate", "mountPath": "/certs"}]}
    pod = {"terminationGracePeriodSeconds": 0, "containers": [container],
           "volumes": [{"name": "certificate", "secret": {"secretName": SERVICE}}]}
    return [definition("ClusterSecretStore", "Cluster"), definition("ExternalSecret", "Namespaced"),
            named("v1", "Secret", SERVICE, HOME, type="kubernetes.io/tls",
                  data={"tls.crt": authority, "tls.key": base64.b64encode(key).decode()}),
            named("v1", "Service", SERVICE, HOME, spec={"selector": labels, "ports": [{"port": 443, "targetPort": 8443}]}),
            named("apps/v1", "Deployment", SERVICE, HOME, spec={
                "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}),
            named("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "externalsecret-validate",
                  webhooks=[hook(one, authority) for one in ("externalsecret", "clustersecretstore")])]


def custom(manifest, *needs):
    name = f"{manifest['kind']}-{manifest['metadata'].get('namespace', '')}"
    return {"type": "apiextensions.CustomResource", "name": name, "args": manifest, "options": {"dependsOn": list(needs)}}


def program(chart):
    namespaces = [{"type": "core.v1.Namespace", "name": name, "args": named("v1", "Namespace", name)} for name in [HOME, *NAMESPACES[1:]]]
    release = {"type": "helm.v3.Chart", "name": "operator", "args": {"path": str(chart)}, "options": {"dependsOn": [HOME]}}
    store = named(f"{GROUP}/v1", "ClusterSecretStore", "pulumi-esc", spec={"provider": {"fake": {"data": [{"key": "ghcr", "value": "x"}]}}})
    secrets = [named(f"{GROUP}/v1", "ExternalSecret", "ghcr-pull-secret", namespace, spec={
        "refreshInterval": "1h", "secretStoreRef": {"kind": "ClusterSecretStore", "name": "pulumi-esc"}, "target": {"name": "ghcr-pull-secret"},
        "data": [{"secretKey": "token", "remoteRef": {"key": "ghcr"}}]}) for namespace in NAMESPACES]
    guarded = [custom(one, "operator", *({one["metadata"].get("namespace", "default")} - {"default"})) for one in (store, *secrets)]
    return [*namespaces, release, *guarded]


class Seed(OnCluster):
    def setUp(self):
        super().setUp()
        self.chart = self.folder / "chart"
        (self.chart / "templates").mkdir(parents=True)
        (self.chart / "Chart.yaml").write_text(f"apiVersion: v2\nname: {HOME}\nversion: 0.11.0\n")
        for index, manifest in enumerate(operator()):
            (self.chart / "templates" / f"{index}.yaml").write_text(json.dumps(manifest))
        self.addCleanup(self.sweep)

    def sweep(self):
        """What a test that failed has left."""
        self.kubectl("delete", "validatingwebhookconfigurations,customresourcedefinitions", "--all", "--ignore-not-found")
        self.kubectl("delete", "namespace", "--ignore-not-found", HOME, *NAMESPACES[1:])

    def seen(self):
        """The names that the webhook was asked about when it was no dry run: the only judge of what was stored past it."""
        pods = json.loads(self.kubectl("get", "pods", f"--namespace={HOME}", "--output=json"))["items"]
        records = [json.loads(self.kubectl("get", "--raw", f"/api/v1/namespaces/{HOME}/pods/{pod['metadata']['name']}:8080/proxy/record"))
                   for pod in pods]
        return sorted(review["name"] for record in records for review in record["reviews"] or [] if not review["dryRun"])

    def test_without_the_gate_the_webhook_is_not_there_in_time(self):
        told = self.pulumi("up", *program(self.chart), ok=False)
        self.assertIn("failed calling webhook", told["text"])
        self.pulumi("destroy", *program(self.chart))

    def test_with_the_gate_ten_rounds_win_at_the_first_attempt(self):
        resources = program(self.chart)
        for number in range(ROUNDS):
            with self.subTest(round=number):
                told = self.pulumi("up", *resources, gate={})
                # Each object was sent once: nothing was refused, and nothing was stored past the webhook.
                self.assertNotIn("retrying", told["text"])
                self.assertEqual(self.seen(), ["ghcr-pull-secret"] * len(NAMESPACES) + ["pulumi-esc"], told["text"])
                self.assert_changes(self.pulumi("preview", *resources, gate={}))
                self.pulumi("destroy", *resources, gate={})
                left = self.kubectl("get", "namespaces", "--ignore-not-found", "--output=name", HOME, *NAMESPACES[1:])
                self.assertEqual(left, "")


class NodeSeedTest(Seed):
    driver = IN_NODE


class PythonSeedTest(Seed):
    driver = IN_PYTHON


del Seed
