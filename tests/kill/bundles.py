"""Random bundles: a first release, an upgrade of it, and objects of others beside both."""
import base64
import copy
import dataclasses

from tests.manifests import named

IMAGE = "registry.example/kill:1"
# Names end like this where an object belongs to others.
THEIRS = "theirs"


def key_of(value):
    metadata = value["metadata"]
    return value["kind"], metadata.get("namespace", ""), metadata["name"]


@dataclasses.dataclass
class Place:
    """Where a case takes place: the names that are its own, and what its server can do."""
    token: str           # part of the name of every namespace and cluster-wide object
    runs_pods: bool      # Deployments become ready
    hook_url: str        # of a webhook server that allows everything and records it
    hook_ca: str

    @property
    def home(self):
        return f"{self.token}-home"

    @property
    def group(self):
        return f"{self.token}.kill.fairlead.dev"

    @property
    def definition(self):
        return f"widgets.{self.group}"


class Maker:
    """Draws the objects of a case from its dice."""

    def __init__(self, dice, place):
        self.dice, self.place, self.number = dice, place, 0

    def name(self, prefix):
        self.number += 1
        return f"{prefix}-{self.number}"

    # ---- single objects -------------------------------------------------------------------------------------------
    def data(self):
        return {f"key-{self.dice.randrange(6)}": str(self.dice.randrange(1000)) for _ in range(self.dice.randint(1, 4))}

    def config_map(self, namespace):
        return named("v1", "ConfigMap", self.name("map"), namespace, data=self.data())

    def secret(self, namespace):
        data = {key: base64.b64encode(value.encode()).decode() for key, value in self.data().items()}
        return named("v1", "Secret", self.name("secret"), namespace, type="Opaque", data=data)

    def service_account(self, namespace):
        return named("v1", "ServiceAccount", self.name("robot"), namespace)

    def service(self, namespace):
        return named("v1", "Service", self.name("service"), namespace,
                     spec={"selector": {"app": "any"}, "ports": [{"port": 80}]})

    def deployment(self, namespace, labels=None):
        labels = labels or {"app": self.name("app")}
        replicas = self.dice.randint(1, 2) if self.place.runs_pods else 0
        template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": IMAGE}]}}
        return named("apps/v1", "Deployment", self.name("run"), namespace, spec={
            "replicas": replicas, "selector": {"matchLabels": labels}, "template": template})

    def cluster_role(self):
        rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
        return named("rbac.authorization.k8s.io/v1", "ClusterRole", f"{self.place.token}-{self.name('role')}", rules=[rule])

    def definition(self):
        schema = {"type": "object", "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
        names = {"kind": "Widget", "listKind": "WidgetList", "plural": "widgets", "singular": "widget"}
        return named("apiextensions.k8s.io/v1", "CustomResourceDefinition", self.place.definition, spec={
            "group": self.place.group, "scope": "Namespaced", "names": names,
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]})

    def widget(self, namespace):
        return named(f"{self.place.group}/v1", "Widget", self.name("widget"), namespace, spec=self.data())

    def guard(self, client_config):
        """A configuration whose webhook is asked about widgets."""
        kind = self.dice.choice(["Validating", "Mutating"]) + "WebhookConfiguration"
        operations = ["CREATE", "UPDATE", *(["DELETE"] if self.dice.random() < 0.4 else [])]
        rule = {"apiGroups": [self.place.group], "apiVersions": ["v1"], "operations": operations, "resources": ["widgets"]}
        return named("admissionregistration.k8s.io/v1", kind, f"{self.place.token}-guard", webhooks=[{
            "name": f"guard.{self.place.group}", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "failurePolicy": self.dice.choice(["Fail", "Ignore"]), "timeoutSeconds": 5, "clientConfig": client_config,
            "rules": [rule]}])

    # ---- parts of a bundle ----------------------------------------------------------------------------------------
    def guard_with_server(self, namespaces):
        """By the address of a server of the test's; where pods run, also one that comes with the bundle."""
        by_url = {"url": self.place.hook_url, "caBundle": self.place.hook_ca}
        if not self.place.runs_pods or self.dice.random() < 0.5:
            return [self.guard(by_url)]
        namespace = self.dice.choice(namespaces)
        labels = {"app": "guard"}
        service = named("v1", "Service", "guard", namespace, spec={"selector": labels, "ports": [{"port": 443}]})
        return [service, self.deployment(namespace, labels), self.guard(
            {"service": {"namespace": namespace, "name": "guard", "port": 443}, "caBundle": self.place.hook_ca})]

    def plain(self, namespaces):
        makers = [self.config_map] * 5 + [self.secret] * 2 + [self.service_account, self.service, self.deployment]
        return self.dice.choice(makers)(self.dice.choice(namespaces))

    def first_release(self):
        token, home = self.place.token, self.place.home
        namespaces = [f"{token}-part{number}" for number in range(self.dice.randint(1, 3))]
        result = [named("v1", "Namespace", name) for name in namespaces]
        everywhere = [home, *namespaces]
        result += [self.plain(everywhere) for _ in range(self.dice.randint(3, 18))]
        result += [self.cluster_role() for _ in range(self.dice.randint(0, 2))]
        if self.dice.random() < 0.65:
            result += [self.definition(), *(self.widget(self.dice.choice(everywhere)) for _ in range(self.dice.randint(1, 6)))]
            if self.dice.random() < 0.65:
                result += self.guard_with_server(everywhere)
        self.dice.shuffle(result)
        return result

    # ---- the upgrade ----------------------------------------------------------------------------------------------
    def upgrade(self, first):
        """The next release: some objects leave, some change, some come."""
        leaving = {key_of(one) for one in first if self.may_leave_alone(one) and self.dice.random() < 0.25}
        leaving |= self.containers_that_leave(first)
        kept = [self.changed(one) for one in first if key_of(one) not in leaving and not self.goes_with(one, leaving)]
        namespaces = [self.place.home, *(one["metadata"]["name"] for one in kept if one["kind"] == "Namespace")]
        result = kept + [self.plain(namespaces) for _ in range(self.dice.randint(0, 5))]
        if any(one["kind"] == "CustomResourceDefinition" for one in kept):
            result += [self.widget(self.dice.choice(namespaces)) for _ in range(self.dice.randint(0, 3))]
        self.dice.shuffle(result)
        return result

    def may_leave_alone(self, one):
        belongs_to_guard = one["metadata"]["name"] == "guard" or one.get("spec", {}).get("selector", {}) \
            .get("matchLabels") == {"app": "guard"}
        return one["kind"] not in ("Namespace", "CustomResourceDefinition") and not belongs_to_guard

    def containers_that_leave(self, first):
        """Not the namespace of the webhook's own server: what it guards would be left without an answer."""
        servers = {one["metadata"].get("namespace") for one in first if not self.may_leave_alone(one)}
        return {key_of(one) for one in first if one["kind"] in ("Namespace", "CustomResourceDefinition")
                and one["metadata"]["name"] not in servers and self.dice.random() < 0.25}

    def goes_with(self, one, leaving):
        of_kind = one["kind"] == "Widget" or one["kind"].endswith("WebhookConfiguration")
        return ("Namespace", "", one["metadata"].get("namespace", "")) in leaving or \
            (of_kind and ("CustomResourceDefinition", "", self.place.definition) in leaving)

    def changed(self, one):
        if self.dice.random() < 0.6:
            return one
        one = copy.deepcopy(one)
        if one["kind"] == "ConfigMap":
            one["data"] = self.data()
        elif one["kind"] == "Widget":
            one["spec"] = self.data()
        elif one["kind"].endswith("WebhookConfiguration"):
            one["webhooks"][0]["timeoutSeconds"] = self.dice.randint(6, 20)
        elif one["kind"] != "CustomResourceDefinition":
            one["metadata"]["labels"] = {"release": "two"}
        return one

    # ---- others ---------------------------------------------------------------------------------------------------
    def others_before(self):
        """What is there before the bundle comes, and its namespace."""
        token, home = self.place.token, self.place.home
        away = f"{token}-{THEIRS}"
        hook = self.guard({"url": "https://127.0.0.1:1/", "caBundle": self.place.hook_ca})
        hook["metadata"]["name"] = f"{token}-{THEIRS}"
        hook["webhooks"][0]["objectSelector"] = {"matchLabels": {"never": "set"}}
        return [named("v1", "Namespace", away), hook, *(self.theirs(maker(place)) for place in (home, away)
                                                        for maker in (self.config_map, self.secret, self.service))]

    def others_inside(self, release, part_of):
        """What others make in the bundle's namespaces and of its kind, some of it with its label."""
        result = []
        for one in release:
            if one["kind"] == "Namespace" and self.dice.random() < 0.35:
                result.append(self.theirs(self.config_map(one["metadata"]["name"])))
                if self.dice.random() < 0.5:
                    result[-1]["metadata"]["labels"] = {"applyset.kubernetes.io/part-of": part_of}
            if one["kind"] == "CustomResourceDefinition" and self.dice.random() < 0.3:
                result.append(self.theirs(self.widget(self.place.home)))
        return result

    def theirs(self, one):
        one["metadata"]["name"] += f"-{THEIRS}"
        return one
