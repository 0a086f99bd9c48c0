"""A platform's bundle of 74 objects: namespaces, volumes and claims, an operator with its kinds, resources and webhook."""
import http.server
import json
import pathlib
import base64
import ssl
import subprocess
import threading

COUNT = 74
FINALIZER = "finalizers.acme.dev"
KINDS = {"Source": "sources", "Release": "releases"}
TENANTS = ("flux", "reflector", "oracle", "monitoring", "ingress", "data")


def named(api_version, kind, name, namespace="", **more):
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **more.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


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

    def __init__(self, folder):
        self.is_alive = lambda: True
        key, certificate = pathlib.Path(folder) / "tls.key", pathlib.Path(folder) / "tls.crt"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-keyout", key, "-out", certificate, "-days", "1", "-subj", "/CN=webhook",
                        "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        self.ca = base64.b64encode(certificate.read_bytes()).decode()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        webhook = self

        class Answers(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                response = {"uid": review["request"]["uid"], "allowed": True}
                body = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
                self.send_response(200 if webhook.is_alive() else 503)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}/"
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
