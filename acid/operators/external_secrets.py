"""External Secrets: a ClusterSecretStore of the `fake` provider and four ExternalSecrets that become Secrets."""
import base64

import yaml

from acid.operators import modules, packaging
from acid.operators.guarded import OperatorStory
from tests.rollout.late_webhook import certificate

MODULE = "github.com/external-secrets/external-secrets"
VALUES = {"secret1": "alpha", "secret2": "beta", "secret3": "gamma", "secret4": "delta"}


class ExternalSecrets(OperatorStory):
    name = "external-secrets"
    title = "External Secrets with a ClusterSecretStore and four ExternalSecrets: until the four Secrets hold their values"
    folder = "external-secrets"
    group = "external-secrets.io"
    webhooks = {f"validate.{singular}.external-secrets.io": (f"{singular}s",)
                for singular in ("secretstore", "clustersecretstore", "externalsecret")}

    @property
    def images(self):
        return [modules.image("external-secrets", modules.program(self.folder, MODULE, "4 minutes"))]

    def operator_chart(self):
        deploy = modules.source(self.folder, MODULE) / "deploy"
        files = packaging.files_of(deploy / "charts" / "external-secrets")
        del files["templates/crds/README.md"]  # as their .helmignore says, which helm does not read in a subchart
        # A chart of yet another program, which is left out unless a value asks for it; it would have to be fetched.
        del files["Chart.lock"]
        description = yaml.safe_load(files["Chart.yaml"])
        del description["dependencies"]
        files["Chart.yaml"] = packaging.documents([description])
        definitions = (deploy / "crds" / "bundle.yaml").read_bytes()
        files["templates/crds/bundle.yaml"] = b"{{- if .Values.installCRDs }}\n" + definitions + b"\n{{- end }}\n"
        return packaging.stored("external-secrets", files)

    def operator_values(self):
        image = packaging.image_values("external-secrets")
        return {"installCRDs": True, "fullnameOverride": "external-secrets", **image, "webhook": image,
                "certController": image}

    def operator_objects(self):
        objects = packaging.rendered("external-secrets", "external-secrets", self.operator_chart(), *self.values())
        return [packaging.namespace("external-secrets"), *objects]

    def custom_resources(self):
        data = [{"key": f"/{name}", "value": value} for name, value in VALUES.items()]
        store = {"apiVersion": "external-secrets.io/v1", "kind": "ClusterSecretStore", "metadata": {"name": "fake"},
                 "spec": {"provider": {"fake": {"data": data}}}}
        return [store, *({
            "apiVersion": "external-secrets.io/v1", "kind": "ExternalSecret",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"refreshInterval": "1h", "secretStoreRef": {"kind": "ClusterSecretStore", "name": "fake"},
                     "target": {"name": name}, "data": [{"secretKey": "value", "remoteRef": {"key": f"/{name}"}}]}}
            for name in VALUES)]

    def came_true(self, arena):
        secrets = {one["metadata"]["name"]: one.get("data", {}).get("value", "")
                   for one in arena.items("/api/v1/namespaces/default/secrets")}
        return all(base64.b64decode(secrets.get(name, "")).decode() == value for name, value in VALUES.items())


class ExternalSecretsOrphan(ExternalSecrets):
    name = "external-secrets-orphan"
    title = "the same, where an earlier install has left its webhook configurations behind, with its own authority"

    def namespace(self):
        return "external-secrets"

    def before(self, arena):
        arena.kubectl("apply", "--server-side", "--field-manager=helm", "-f", "-", objects=[
            self.left_behind(one) for one in self.operator_objects() if one["kind"] == "ValidatingWebhookConfiguration"])

    def left_behind(self, one):
        """As a release of the same name has left it: helm takes that over again."""
        owner = {"meta.helm.sh/release-name": self.name, "meta.helm.sh/release-namespace": self.namespace()}
        authority = base64.b64encode(certificate("external-secrets-webhook.external-secrets.svc")[0]).decode()
        return {**one, "metadata": {**one["metadata"], "annotations": owner}, "webhooks": [
            {**hook, "clientConfig": {**hook["clientConfig"], "caBundle": authority}} for hook in one["webhooks"]]}
