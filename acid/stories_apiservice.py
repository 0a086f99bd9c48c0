"""An aggregated API whose server, in a pod, is Ready three seconds before it listens."""
import base64

from acid.stories_webhook import LATE
from acid.story import ROOT, Story
from cluster import builds
from tests.rollout.late_webhook import IMAGE, certificate

GADGETS = 5


class Aggregated(Story):
    name = "apiservice"
    title = "an aggregated API whose server listens 3 s after its pod is Ready, and objects of it"
    runs = 20
    group = "gadgets.fairlead.dev"

    def __init__(self):
        pem, key = certificate(f"server.{self.name}.svc")
        self.authority, self.key = base64.b64encode(pem).decode(), base64.b64encode(key).decode()

    def metadata(self, name):
        return {"name": name, "namespace": self.name}

    def objects(self):
        container = {"name": "server", "image": IMAGE, "imagePullPolicy": "Never",
                     "args": ["aggregated", "-group", self.group, "-late", f"{LATE:.3f}s"],
                     "readinessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 1},
                     "volumeMounts": [{"name": "certificate", "mountPath": "/certs"}]}
        template = {"metadata": {"labels": {"app": "server"}}, "spec": {
            "terminationGracePeriodSeconds": 0, "containers": [container],
            "volumes": [{"name": "certificate", "secret": {"secretName": "server-certificate"}}]}}
        return [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.name}},
            {"apiVersion": "v1", "kind": "Secret", "metadata": self.metadata("server-certificate"),
             "type": "kubernetes.io/tls", "data": {"tls.crt": self.authority, "tls.key": self.key}},
            {"apiVersion": "v1", "kind": "Service", "metadata": self.metadata("server"),
             "spec": {"selector": {"app": "server"}, "ports": [{"port": 443, "targetPort": 8443}]}},
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": self.metadata("server"),
             "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "server"}}, "template": template}},
            {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": f"v1.{self.group}"},
             "spec": {"group": self.group, "version": "v1", "groupPriorityMinimum": 1000, "versionPriority": 15,
                      "caBundle": self.authority, "service": {"name": "server", "namespace": self.name, "port": 443}}},
            *({"apiVersion": f"{self.group}/v1", "kind": "Gadget", "metadata": self.metadata(f"gadget-{number}"),
               "spec": {"size": 3}} for number in range(GADGETS))]

    def guarded(self, one):
        return one["kind"] == "Gadget"

    def resources(self):
        return {(f"{self.group}/v1", "Gadget"): ("gadgets", True)}

    def came_true(self, arena):
        return len(arena.items(f"/apis/{self.group}/v1/namespaces/{self.name}/gadgets")) == GADGETS

    def unvalidated(self, arena):
        return 0  # nobody but that server can store them

    def sources(self):
        return [ROOT / "tests/rollout/late_webhook.py", *builds.TOOLS["testpod"].glob("*.go")]


STORIES = [Aggregated()]
