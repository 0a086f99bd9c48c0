"""A platform's bundle of 74 objects: namespaces, volumes and claims, an operator with its kinds, resources and webhook."""
import threading

from tests.manifests import named
from tests.scripts.webhooks import Allowing, HttpServer, certificate_of_this_run

COUNT = 74
FINALIZER = "finalizers.acme.dev"
KINDS = {"Source": "sources", "Release": "releases"}
TENANTS = ("flux", "reflector", "oracle", "monitoring", "ingress", "data")


def definition(group, kind, plural):
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.{group}", spec={
        "group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]})


def deployment(name, namespace):
    labels = {"app": name}
    return named("apps/v1", "Deployment", name, namespace, spec={
        "replicas": 1, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "x", "image": "x"}]}}})


class Estate:
    """All names begin with `name`. In the order in which people write it: whatever the rest stands on comes first."""

    def __init__(self, name, group, webhook):
        self.name, self.group, self.webhook = name, group, webhook
        self.namespaces = {tenant: f"{name}-{tenant}" for tenant in TENANTS}
        self.plurals = [f"{plural}.{group}" for plural in KINDS.values()]

    def objects(self):
        return [*(named("v1", "Namespace", one) for one in self.namespaces.values()), *self.storage(), *self.operators(),
                *(definition(self.group, kind, plural) for kind, plural in KINDS.items()), self.configuration(),
                *self.furniture(), *self.resources()]

    def storage(self):
        for number in range(8):
            name = f"{self.name}-{number}"
            common = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
            yield named("v1", "PersistentVolume", name, spec={
                **common, "capacity": {"storage": "1Gi"}, "hostPath": {"path": f"/nowhere/{name}"}})
            yield named("v1", "PersistentVolumeClaim", f"claim-{number}", self.namespaces["data"], spec={
                **common, "volumeName": name, "resources": {"requests": {"storage": "1Gi"}}})

    def operators(self):
        for tenant in ("flux", "reflector"):
            namespace, cluster_wide = self.namespaces[tenant], f"{self.name}-{tenant}"
            yield named("v1", "ServiceAccount", tenant, namespace)
            yield named("rbac.authorization.k8s.io/v1", "ClusterRole", cluster_wide, rules=[
                {"apiGroups": [self.group], "resources": ["*"], "verbs": ["*"]}])
            yield named("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", cluster_wide,
                        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": cluster_wide},
                        subjects=[{"kind": "ServiceAccount", "name": tenant, "namespace": namespace}])
            yield named("v1", "Service", tenant, namespace, spec={"selector": {"app": tenant}, "ports": [{"port": 443}]})
            yield deployment(tenant, namespace)

    def configuration(self):
        rule = {"apiGroups": [self.group], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["*"]}
        return named("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", self.name, webhooks=[{
            "name": f"update.{self.group}", "admissionReviewVersions": ["v1"], "sideEffects": "None", "rules": [rule],
            "clientConfig": {"url": self.webhook.url, "caBundle": self.webhook.ca}}])

    def furniture(self):
        for tenant, namespace in self.namespaces.items():
            yield named("v1", "ConfigMap", "settings", namespace, data={"tenant": tenant})
            yield named("v1", "Secret", "key", namespace, stringData={"key": "correct horse battery staple"})
            yield named("networking.k8s.io/v1", "NetworkPolicy", "closed", namespace,
                        spec={"podSelector": {}, "policyTypes": ["Ingress"]})
            if tenant != "flux":
                yield named("v1", "LimitRange", "small", namespace,
                            spec={"limits": [{"type": "Container", "default": {"memory": "64Mi"}}]})

    def resources(self):
        for number in range(16):
            kind = list(KINDS)[number % 2]
            namespace = list(self.namespaces.values())[number % len(TENANTS)]
            yield named(f"{self.group}/v1", kind, f"r{number}", namespace, metadata={"finalizers": [FINALIZER]})


class Webhook:
    """Admits updates for as long as `is_alive` says that whoever serves it is there."""

    def __init__(self):
        self.is_alive = lambda: True
        context, self.ca = certificate_of_this_run()
        webhook = self

        class Reviews(Allowing):
            def reviewed(self, request):
                return 200 if webhook.is_alive() else 503

        self.server = HttpServer(("127.0.0.1", 0), Reviews)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}/"
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
