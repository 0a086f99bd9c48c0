"""A bundle of many small objects of several kinds, in twenty namespaces of their own."""
import itertools
import json

NAMESPACES = 20
OBJECTS_OF_A_TEMPLATE = 300
# kind -> apiVersion, plural, and whatever makes it one that the API server takes
KINDS = {
    "ConfigMap": ("v1", "configmaps", {"data": {"text": "the quick brown fox jumps over the lazy dog"}}),
    "Secret": ("v1", "secrets", {"stringData": {"password": "correct horse battery staple"}}),
    "ServiceAccount": ("v1", "serviceaccounts", {}),
    "Role": ("rbac.authorization.k8s.io/v1", "roles",
             {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]}),
    "RoleBinding": ("rbac.authorization.k8s.io/v1", "rolebindings", {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "x-{app}"},
        "subjects": [{"kind": "ServiceAccount", "name": "x-{app}", "namespace": "{namespace}"}]}),
    "NetworkPolicy": ("networking.k8s.io/v1", "networkpolicies",
                      {"spec": {"podSelector": {"matchLabels": {"app": "x-{app}"}}, "policyTypes": ["Ingress"]}}),
}


def filled(value, words):
    if isinstance(value, dict):
        return {key: filled(member, words) for key, member in value.items()}
    if isinstance(value, list):
        return [filled(item, words) for item in value]
    return value.format(**words)


class Mixed:
    def __init__(self, name, count):
        self.name = name
        self.namespaces = [f"{name}-{number}" for number in range(NAMESPACES)]
        self.count = count
        self.kinds = len(KINDS) + 1

    def objects(self):
        """(path, object) each; the namespaces come first."""
        for namespace in self.namespaces:
            yield f"/api/v1/namespaces/{namespace}", {"apiVersion": "v1", "kind": "Namespace",
                                                      "metadata": {"name": namespace}}
        kinds = list(KINDS.items())
        for number in range(self.count - NAMESPACES):
            kind, (version, plural, rest) = kinds[number % len(kinds)]
            app = number // len(kinds)
            words = {"app": app, "namespace": self.namespaces[app % NAMESPACES]}
            metadata = {"name": f"x-{app}", "namespace": words["namespace"], "labels": {"app": f"x-{app}"}}
            prefix = "/api/v1" if version == "v1" else f"/apis/{version}"
            yield (f"{prefix}/namespaces/{words['namespace']}/{plural}/x-{app}",
                   {"apiVersion": version, "kind": kind, "metadata": metadata, **filled(rest, words)})


def write_chart(folder, name, mixed):
    """The same as a chart of Helm, which has nothing to fill in."""
    templates = folder / "templates"
    templates.mkdir(parents=True)
    (folder / "Chart.yaml").write_text(json.dumps({"apiVersion": "v2", "name": name, "version": "1.0.0"}))
    texts = (json.dumps(object).replace("{{", '{{ "{{" }}') for _, object in mixed.objects())
    for number in itertools.count():
        part = list(itertools.islice(texts, OBJECTS_OF_A_TEMPLATE))
        if not part:
            return folder
        (templates / f"part-{number}.yaml").write_text("\n---\n".join(part))
