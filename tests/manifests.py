"""Objects for tests of the whole. Those that run something do it on the sandbox only."""
import base64
import json


def named(api_version, kind, name, namespace="", **more):
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **more.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


def config_map(name, namespace="default", **data):
    return named("v1", "ConfigMap", name, namespace, data=data)


def yaml(*objects):
    return "---\n".join(json.dumps(one) + "\n" for one in objects)


def encoded(text):
    return base64.b64encode(text.encode()).decode()


def secret(name, value):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "default"}, "stringData": {"password": value}}


def deployment(name, image="x", **annotations):
    template = {"metadata": {"labels": {"app": name}, "annotations": annotations},
                "spec": {"containers": [{"name": "x", "image": image}]}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": name}}, "template": template}}


def job(name, exit_code):
    annotations = {"sandbox.fairlead.dev/runs-for": "0s", "sandbox.fairlead.dev/exit-code": str(exit_code)}
    pod = {"metadata": {"annotations": annotations}, "spec": {"restartPolicy": "Never", "containers": [{"name": "x", "image": "x"}]}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": "default"},
            "spec": {"backoffLimit": 0, "template": pod}}


def behind_a_webhook():
    """An object behind a webhook whose pod starts in its own time, and what both need, in an order that does not work."""
    version = {"name": "v1", "served": True, "storage": True,
               "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
    crd = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"},
           "spec": {"group": "example.com", "scope": "Namespaced", "versions": [version],
                    "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}}}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "guard", "namespace": "default"},
               "spec": {"selector": {"app": "guard"}, "ports": [{"port": 443, "targetPort": 8443}]}}
    authority = encoded("-----BEGIN CERTIFICATE-----\n")
    hook = {"name": "v.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Fail",
            "clientConfig": {"service": {"namespace": "default", "name": "guard"}, "caBundle": authority},
            "rules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["widgets"]}]}
    hooks = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
             "metadata": {"name": "guard"}, "webhooks": [hook]}
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "one", "namespace": "default"}, "spec": {"size": 1}}
    backend = deployment("guard", **{"sandbox.fairlead.dev/ready-after": "200ms", "sandbox.fairlead.dev/listens-after": "200ms"})
    return [widget, hooks, service, backend, crd]
