"""Stories that cannot end well: asked is how soon a tool names the root cause, and in which words."""
import re

from acid.stories_webhook import Webhook
from tests.rollout.late_webhook import IMAGE

MISSING_IMAGE = "localhost/fairlead/missing:1"


class Never(Webhook):
    kind = "never"
    runs = 1
    cut = 120

    def came_true(self, arena):
        return False


class Orphan(Never):
    """An earlier install left its CRD and its fail-closed configuration behind; its Service is gone."""

    def __init__(self):
        super().__init__("never-orphan", "a fail-closed configuration of an earlier install, whose Service is gone")

    def objects(self):
        parts = self.webhook.foundation()
        operator = self.webhook.workload()
        container = {"name": "operator", "image": IMAGE, "imagePullPolicy": "Never", "args": ["serve"]}
        operator["spec"]["template"]["spec"] = {"containers": [container]}
        return [*(one for one in parts if one["kind"] in ("Namespace", "CustomResourceDefinition")), operator,
                *self.webhook.widgets()]

    def before(self, arena):
        orphan = self.webhook.configuration()
        orphan["webhooks"][0]["clientConfig"]["service"].update(name="old-guard", namespace="old-operator")
        arena.apply([self.webhook.definition(), orphan])
        arena.kubectl("wait", "--for=condition=Established", "crd", f"widgets.{self.webhook.story.group}")

    def names_the_cause(self, line):
        return bool(re.search(
            r'service "old-guard" not found|(no|without a|missing) [Ss]ervice old-operator/old-guard\b'
            r"|[Ss]ervice old-operator/old-guard\b.*(does not exist|not found|is gone|is missing|neither in the cluster)", line))


class Image(Never):
    """The operator's image cannot be pulled."""

    def __init__(self):
        super().__init__("never-image", "an operator image that cannot be pulled")

    def objects(self):
        objects = super().objects()
        for one in objects:
            if one["kind"] == "Deployment":
                one["spec"]["template"]["spec"]["containers"][0].update(image=MISSING_IMAGE, imagePullPolicy="IfNotPresent")
        return objects

    def evident(self, arena):
        pods = arena.items(f"/api/v1/namespaces/{self.name}/pods")
        waiting = [status.get("state", {}).get("waiting", {}).get("reason", "") for pod in pods
                   for status in pod.get("status", {}).get("containerStatuses", [])]
        return any(reason in ("ErrImagePull", "ImagePullBackOff") for reason in waiting)

    def names_the_cause(self, line):
        return bool(re.search(rf"ErrImagePull|ImagePullBackOff|[Ff]ailed to pull.*{re.escape(MISSING_IMAGE)}", line))


class WrongAuthority(Never):
    """The caBundle belongs to another certificate, and stays wrong."""

    def __init__(self):
        super().__init__("never-ca", "a caBundle that stays wrong", late=0)
        self.other = Webhook("another", "").webhook.authority

    def objects(self):
        objects = super().objects()
        for one in objects:
            if one["kind"] == "ValidatingWebhookConfiguration":
                one["webhooks"][0]["clientConfig"]["caBundle"] = self.other
        return objects

    def evident(self, arena):
        """From the moment on at which it listens with the certificate that does not fit."""
        pods = arena.items(f"/api/v1/namespaces/{self.name}/pods")
        return any(status.get("ready") for pod in pods for status in pod.get("status", {}).get("containerStatuses", []))

    def names_the_cause(self, line):
        return bool(re.search(r"x509: certificate signed by unknown authority|(does not|not) (verify|fit|trusted).*caBundle"
                              r"|caBundle.*(does not|not) (verify|fit|match)|certificate.*(not trusted|unknown authority)",
                              line))


STORIES = [Orphan(), Image(), WrongAuthority()]
