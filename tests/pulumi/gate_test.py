"""gate(): programs that use @pulumi/kubernetes, on the sandbox, with the provider of Kubernetes or what stands in for it.

./dev pulumi sets what is needed; on_pulumi.py says what that is.
"""
import copy
import json

from tests.manifests import behind_a_webhook, config_map
from tests.pulumi.on_pulumi import IN_NODE, IN_PYTHON, OnPulumi

WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
CLASSES = {"CustomResourceDefinition": "apiextensions.v1.CustomResourceDefinition", "Service": "core.v1.Service",
           "ValidatingWebhookConfiguration": "admissionregistration.v1.ValidatingWebhookConfiguration",
           "Deployment": "apps.v1.Deployment", "ConfigMap": "core.v1.ConfigMap", "Widget": "apiextensions.CustomResource"}

PATHS = {"CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
         "Service": "/api/v1/namespaces/default/services", "Deployment": "/apis/apps/v1/namespaces/default/deployments",
         "ValidatingWebhookConfiguration": "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"}


def a_resource(manifest, **options):
    return {"type": CLASSES[manifest["kind"]], "name": f"{manifest['kind']}-{manifest['metadata']['name']}", "args": manifest, "options": options}


def slow_webhook():
    """Its pod takes longer than the first attempts of the provider of Kubernetes."""
    manifests = behind_a_webhook()
    for manifest in manifests:
        if manifest["kind"] == "Deployment":
            manifest["spec"]["template"]["metadata"]["annotations"] = {f"sandbox.fairlead.dev/{name}-after": "4s" for name in ("ready", "listens")}
    return manifests


def program():
    """A webhook and what it guards, as somebody writes it who does not think of the webhook."""
    return [a_resource(manifest) for manifest in slow_webhook()]


class Gated(OnPulumi):
    """One test per story; the classes below say in which language."""

    def test_without_it_the_webhook_is_not_there_in_time(self):
        told = self.pulumi("up", *program(), ok=False)
        self.assertIn("failed calling webhook", told["text"])

    def test_with_it_the_objects_come_at_the_first_attempt(self):
        for _ in range(2):
            self.assertIn("create", self.pulumi("preview", *program(), gate={})["changes"])
            self.pulumi("up", *program(), gate={})
            self.assertEqual(self.get(f"{WIDGETS}/one")[0], 200)
            self.assert_changes(self.pulumi("up", *program(), gate={}))
            destroyed = self.pulumi("destroy", *program(), gate={})
            self.assert_changes(destroyed, delete=len(program()) + 2)  # and the wait and the stack
            self.assertEqual(self.get(f"{WIDGETS}/one")[0], 404)

    def test_a_webhook_of_the_cluster_is_waited_for(self):
        widget, *guard = slow_webhook()
        for manifest in guard:
            self.assertEqual(self.api.request("POST", PATHS[manifest["kind"]], manifest)[0], 201)
        self.assertIn("create", self.pulumi("preview", a_resource(widget), gate={})["changes"])
        self.pulumi("up", a_resource(widget), gate={})
        self.assertEqual(self.get(f"{WIDGETS}/one")[0], 200)

    def assert_created_in_order(self, text, *names):
        places = [text.index(f" {name} created") for name in names]
        self.assertEqual(places, sorted(places), text)

    def test_what_the_webhook_itself_needs_does_not_wait_for_it(self):
        """Whether it is named, or only used."""
        _, hooks, service, backend, _ = slow_webhook()
        hooks["webhooks"][0]["rules"][0] |= {"apiGroups": [""], "resources": ["configmaps"]}
        other, named, used = (a_resource(config_map(name, level="low")) for name in ("other", "named", "used"))
        container, = backend["spec"]["template"]["spec"]["containers"]
        container["envFrom"] = [{"configMapRef": {"name": {"$ref": "ConfigMap-used.metadata.name"}}}]
        text = self.pulumi("up", other, named, used, a_resource(hooks), a_resource(service), a_resource(backend, dependsOn=["ConfigMap-named"]),
                           gate={})["text"]
        for needed in ("ConfigMap-named", "ConfigMap-used"):
            self.assert_created_in_order(text, needed, "Deployment-guard", "ConfigMap-other")

    def test_a_webhook_that_is_down_is_waited_for_after_the_first_refusal(self):
        """The program's own wait has proved it before, so only an error can tell."""
        self.pulumi("up", *program(), gate={})
        backend = next(one for one in slow_webhook() if one["kind"] == "Deployment")
        self.assertEqual(self.api.request("DELETE", f"{PATHS['Deployment']}/guard")[0], 200)
        another = copy.deepcopy(slow_webhook()[0])
        another["metadata"]["name"] = "two"

        def bring_it_back(_):
            self.assertEqual(self.api.request("POST", PATHS["Deployment"], backend)[0], 201)
        told = self.when_it_says("waits for webhook v.example.com", bring_it_back, "up", *program(), a_resource(another), gate={})
        self.assertEqual(self.get(f"{WIDGETS}/two")[0], 200, told["text"])

    def test_an_object_that_is_refused_for_another_reason_is_not_sent_again(self):
        widget = slow_webhook()[0]
        widget["metadata"]["name"] = "Not a name"
        told = self.pulumi("up", *program()[1:], a_resource(widget), gate={}, ok=False)
        self.assertNotIn("retrying", told["text"])

    def test_the_webhook_of_a_chart_guards_what_is_outside_of_it(self):
        """Though nothing says that one needs the other."""
        widget, *guard = slow_webhook()
        chart = self.folder / "chart"
        (chart / "templates").mkdir(parents=True)
        (chart / "Chart.yaml").write_text("apiVersion: v2\nname: guard\nversion: 1.0.0\n")
        for index, manifest in enumerate(guard):
            (chart / "templates" / f"{index}.yaml").write_text(json.dumps(manifest))
        resources = [a_resource(widget), {"type": "helm.v3.Chart", "name": "guard", "args": {"path": str(chart)}}]
        for _ in range(2):
            text = self.pulumi("up", *resources, gate={})["text"]
            self.assertEqual(self.get(f"{WIDGETS}/one")[0], 200, text)
            self.pulumi("destroy", *resources, gate={})
            self.assertEqual(self.get(f"{WIDGETS}/one")[0], 404)


class NodeGateTest(Gated):
    driver = IN_NODE


class PythonGateTest(Gated):
    driver = IN_PYTHON


del Gated
