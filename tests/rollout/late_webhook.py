"""A bundle whose webhook runs in a pod of its own that is Ready before it listens, and what that webhook has seen.

The bundle is made of Kubernetes objects as Python values; a Cluster runs kubectl; seen_by_webhook() reads the webhook's own
record, which is the only judge of what was stored past it.
"""
import base64
import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile

IMAGE = "localhost/fairlead/testpod:1"
GUARDED = 5


@dataclasses.dataclass(frozen=True)
class Shape:
    """What kind of guard it is."""
    kind: str = "validating"  # or mutating, conversion
    policy: str = "Fail"      # or Ignore
    replicas: int = 1         # with two, the first of them is not late
    late_certificate: bool = False
    updated: bool = False     # the configuration is there before, and guards something else


@dataclasses.dataclass(frozen=True)
class Story:
    shape: Shape
    name: str       # of its namespace; makes every other name unique
    late: float     # seconds from the start of the pod until its webhook listens
    guarded: int = GUARDED

    @property
    def group(self):
        return f"{self.name}.fairlead.dev"

    @property
    def configuration(self):
        """Its kind and name; those of the CRD for a conversion."""
        if self.shape.kind == "conversion":
            return "CustomResourceDefinition", f"widgets.{self.group}"
        return f"{self.shape.kind.capitalize()}WebhookConfiguration", self.name


def certificate(host):
    """A certificate that is its own authority, and its key, as PEM."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc",
                        "-subj", "/CN=guard", "-addext", f"subjectAltName=DNS:{host}", "-keyout", "tls.key",
                        "-out", "tls.crt"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
        return [(pathlib.Path(folder) / name).read_bytes() for name in ("tls.crt", "tls.key")]


class LateWebhook:
    """The objects of a story."""

    def __init__(self, story):
        self.story = story
        pem, key = certificate(f"guard.{story.name}.svc")
        self.authority = base64.b64encode(pem).decode()
        self.key = base64.b64encode(key).decode()

    def metadata(self, name):
        return {"name": name, "namespace": self.story.name}

    def namespace(self):
        return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.story.name}}

    def definition(self):
        versions = ["v1", "v2"] if self.story.shape.kind == "conversion" else ["v1"]
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        spec = {"group": self.story.group, "scope": "Namespaced",
                "names": {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"},
                "versions": [{"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in versions]}
        if self.story.shape.kind == "conversion":
            spec["conversion"] = {"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"], "clientConfig": self.client_config("/convert")}}
        return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": f"widgets.{self.story.group}"}, "spec": spec}

    def client_config(self, path):
        config: dict = {"service": {"name": "guard", "namespace": self.story.name, "path": path, "port": 443}}
        return config if self.story.shape.late_certificate else {**config, "caBundle": self.authority}

    def configuration(self, resource="widgets"):
        shape = self.story.shape
        kind, name = self.story.configuration
        hook = {"name": f"guard.{self.story.group}", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                "failurePolicy": shape.policy, "timeoutSeconds": 5,
                "clientConfig": self.client_config("/mutate" if shape.kind == "mutating" else "/validate"),
                "rules": [{"apiGroups": [self.story.group], "apiVersions": ["*"], "resources": [resource],
                           "operations": ["CREATE", "UPDATE"]}]}
        return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name},
                "webhooks": [hook]}

    def secret(self):
        return {"apiVersion": "v1", "kind": "Secret", "metadata": self.metadata("guard-certificate"),
                "type": "kubernetes.io/tls", "data": {"tls.crt": self.authority, "tls.key": self.key}}

    def service(self):
        return {"apiVersion": "v1", "kind": "Service", "metadata": self.metadata("guard"),
                "spec": {"selector": {"app": "guard"}, "ports": [{"port": 443, "targetPort": 8443}]}}

    def workload(self):
        container: dict = {"name": "guard", "image": IMAGE, "imagePullPolicy": "Never",
                     "args": ["webhook", "-late", f"{self.story.late:.3f}s"],
                     "readinessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 1},
                     "volumeMounts": [{"name": "certificate", "mountPath": "/certs"}]}
        template = {"metadata": {"labels": {"app": "guard"}}, "spec": {
            "terminationGracePeriodSeconds": 0, "containers": [container],
            "volumes": [{"name": "certificate", "secret": {"secretName": "guard-certificate"}}]}}
        spec = {"replicas": self.story.shape.replicas, "selector": {"matchLabels": {"app": "guard"}}, "template": template}
        if self.story.shape.replicas == 1:
            return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": self.metadata("guard"), "spec": spec}
        container["args"] += ["-prompt", "guard-0"]
        return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": self.metadata("guard"),
                "spec": {**spec, "serviceName": "guard", "podManagementPolicy": "Parallel"}}

    def widgets(self):
        # In the version that is not the stored one, a conversion is part of every write.
        version = "v2" if self.story.shape.kind == "conversion" else "v1"
        return [{"apiVersion": f"{self.story.group}/{version}", "kind": "Widget", "metadata": self.metadata(name),
                 "spec": {"size": 3}} for name in self.guarded_names()]

    def guarded_names(self):
        return [f"widget-{number}" for number in range(self.story.guarded)]

    def before(self):
        """What an earlier version of the bundle has left in the cluster."""
        if not self.story.shape.updated:
            return []
        return [self.namespace(), self.definition(), self.configuration(resource="gadgets")]

    def foundation(self):
        """Everything but what is guarded, in an order that a cluster can take."""
        objects = [self.namespace(), self.definition(), self.secret(), self.service(), self.workload()]
        return objects if self.story.shape.kind == "conversion" else [*objects, self.configuration()]


class Cluster:
    def __init__(self, kubectl, kubeconfig):
        self.command = str(kubectl)
        self.kubeconfig = kubeconfig
        self.env = {**os.environ, "KUBECONFIG": kubeconfig}

    def kubectl(self, *arguments, objects=None, check=True):
        text = "" if objects is None else documents(objects)
        done = subprocess.run([self.command, *arguments], input=text, capture_output=True, text=True, env=self.env,
                              timeout=120)
        if check and done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(arguments)}: {done.stderr}")
        return done

    def apply(self, objects, check=True):
        return self.kubectl("apply", "--server-side", "-f", "-", objects=objects, check=check)

    def get(self, *what):
        return json.loads(self.kubectl("get", *what, "-o", "json").stdout)

    def inject_certificate(self, webhook):
        """As an injector does it: into the configuration as it is in the cluster."""
        kind, name = webhook.story.configuration
        path = "/spec/conversion/webhook/clientConfig/caBundle" if kind == "CustomResourceDefinition" \
            else "/webhooks/0/clientConfig/caBundle"
        patch = [{"op": "add", "path": path, "value": webhook.authority}]
        self.kubectl("patch", kind, name, "--type=json", "-p", json.dumps(patch))

    def await_created(self, kind, name):
        self.kubectl("wait", "--for=create", f"{kind}/{name}", "--timeout=60s")


def documents(objects):
    # A stream that begins with a brace is JSON to kubectl before 1.33, and may have no lines of dashes.
    return "".join(f"---\n{json.dumps(one)}\n" for one in objects)


def records(cluster, namespace):
    """The record of each of the webhook's pods."""
    pods = cluster.get("pods", "-n", namespace, "-l", "app=guard")["items"]
    return [json.loads(cluster.kubectl("get", "--raw", f"/api/v1/namespaces/{namespace}/pods/"
                                       f"{pod['metadata']['name']}:8080/proxy/record").stdout) for pod in pods]


def seen_by_webhook(cluster, webhook):
    """Names of the objects that the webhook was asked about when it was no dry run -> their uids, where it was told."""
    seen: dict = {}
    for record in records(cluster, webhook.story.name):
        assert record["left"] == 0, "more reviews than the webhook keeps"
        for review in record["reviews"] or []:
            if not review["dryRun"]:
                for name in [review.get("name"), *review.get("objects", [])]:
                    seen.setdefault(name, set()).add(review.get("uid"))
    return seen


def stored(cluster, webhook):
    """Names of the guarded objects in the cluster -> object."""
    items = cluster.get(f"widgets.v1.{webhook.story.group}", "-n", webhook.story.name)["items"]
    return {item["metadata"]["name"]: item for item in items}
