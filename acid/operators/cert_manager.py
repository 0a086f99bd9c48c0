"""cert-manager: an Issuer and two Certificates, which its webhook guards and its controller issues."""
import yaml

from acid.operators import modules, packaging
from acid.operators.guarded import OperatorStory, has_condition

MODULE = "github.com/cert-manager/cert-manager"
PROGRAMS = ("controller", "webhook", "cainjector", "ctl")
RESOURCES = "/apis/cert-manager.io/v1/namespaces/default"


class CertManager(OperatorStory):
    name = "cert-manager"
    title = "cert-manager with an Issuer and two Certificates: until both are issued"
    folder = "cert-manager"
    group = "cert-manager.io"
    webhooks = {"webhook.cert-manager.io": ("issuers", "clusterissuers", "certificates", "certificaterequests")}

    @property
    def images(self):
        return [modules.image(f"cert-manager-{name}", modules.program(self.folder, f"{MODULE}/cmd/{name}", "2 minutes"))
                for name in PROGRAMS]

    def operator_chart(self):
        deploy = modules.source(self.folder, MODULE) / "deploy"
        version = modules.version(self.folder, MODULE)
        files = packaging.files_of(deploy / "charts" / "cert-manager")
        description = yaml.safe_load(files.pop("Chart.template.yaml"))
        del description["annotations"]
        files["Chart.yaml"] = packaging.documents([{**description, "version": version, "appVersion": version}])
        definitions = b"---\n".join(path.read_bytes() for path in sorted((deploy / "crds").glob("*.yaml")))
        files["templates/crds.yaml"] = b"{{- if .Values.installCRDs }}\n" + definitions + b"{{- end }}\n"
        return packaging.stored("cert-manager", files)

    def operator_values(self):
        image = packaging.image_values
        return {"installCRDs": True, "fullnameOverride": "cert-manager", **image("cert-manager-controller"),
                "webhook": image("cert-manager-webhook"), "cainjector": image("cert-manager-cainjector"),
                "startupapicheck": image("cert-manager-ctl")}

    def operator_objects(self):
        objects = packaging.rendered(
            "cert-manager", "cert-manager", self.operator_chart(), *self.values(), "--set=creator=static",
            "--set=startupapicheck.enabled=false")
        definitions = [one for one in objects if packaging.is_definition(one)]
        others = [one for one in objects if not packaging.is_definition(one)]
        return [packaging.namespace("cert-manager"), *definitions, *others]

    def custom_resources(self):
        issuer = {"apiVersion": "cert-manager.io/v1", "kind": "Issuer",
                  "metadata": {"name": "self", "namespace": "default"}, "spec": {"selfSigned": {}}}
        return [issuer, *({
            "apiVersion": "cert-manager.io/v1", "kind": "Certificate", "metadata": {"name": name, "namespace": "default"},
            "spec": {"secretName": f"{name}-tls", "dnsNames": [f"{name}.example.com"], "issuerRef": {"name": "self"}}}
            for name in ("one", "two"))]

    def came_true(self, arena):
        certificates = arena.items(f"{RESOURCES}/certificates")
        if len(certificates) < 2 or not all(has_condition(one, "Ready") for one in certificates):
            return False
        return all(arena.ask(f"/api/v1/namespaces/default/secrets/{name}-tls")[1].get("data", {}).get("tls.crt")
                   for name in ("one", "two"))

    def kept(self):
        return {f"secrets default {name}-tls" for name in ("one", "two")}
