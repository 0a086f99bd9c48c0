"""gate(): programs that use @pulumi/kubernetes, on the sandbox, with a provider that stands in for that of Kubernetes.

./dev pulumi sets what is needed; on_pulumi.py says what that is.
"""
from tests.manifests import behind_a_webhook, config_map
from tests.pulumi.on_pulumi import HERE, OnPulumi

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


class GateTest(OnPulumi):
    driver = ["node", str(HERE / "driver.js")]

    def setUp(self):
        super().setUp()
        plugin = self.folder / "plugins" / "pulumi-resource-kubernetes"
        plugin.parent.mkdir()
        plugin.symlink_to(HERE / "kubernetes_stand_in.js")
        self.env["PATH"] = f"{plugin.parent}:{self.env['PATH']}"

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

    def test_what_the_webhook_itself_needs_does_not_wait_for_it(self):
        _, hooks, service, backend, _ = slow_webhook()
        hooks["webhooks"][0]["rules"][0] |= {"apiGroups": [""], "resources": ["configmaps"]}
        settings, other = config_map("settings", level="low"), config_map("other", level="low")
        text = self.pulumi("up", *map(a_resource, (other, settings, hooks, service)), a_resource(backend, dependsOn=["ConfigMap-settings"]),
                           gate={})["text"]
        order = [text.index(f" {name} created") for name in ("ConfigMap-settings", "Deployment-guard", "ConfigMap-other")]
        self.assertEqual(order, sorted(order), text)
