"""VictoriaMetrics' own webhooks and definitions, and what they guard, in one bundle and in one release."""
import functools

from acid.operators import modules, packaging
from acid.operators.guarded import HERE, OperatorStory

OPERATOR = "github.com/VictoriaMetrics/operator"
VERSION = "operator.victoriametrics.com/v1beta1"
GUARDED = ("vmcluster", "vmagent", "vmalert", "vmrule")


class VictoriaMetrics(OperatorStory):
    name = "victoria-metrics"
    title = "VictoriaMetrics' webhooks with a VMCluster, VMAgent, VMAlert and VMRule that they guard: until all are stored"
    folder = "victoria-metrics"
    group = "operator.victoriametrics.com"
    whole = "victoria-metrics"  # what the chart is called that has all of it
    webhooks = {f"{singular}.victoriametrics.com": (f"{singular}s",) for singular in GUARDED}

    @property
    def images(self):
        return [modules.image("victoria-metrics", modules.program(self.folder, ".", "a minute"))]

    @functools.cache
    def operator_chart(self):
        files = packaging.files_of(HERE / self.folder / "chart")
        crds = modules.source(f"{self.folder}/definitions", OPERATOR) / "config" / "crd" / "overlay" / "crd.yaml"
        files["crds/crd.yaml"] = packaging.documents(map(without_conversion, packaging.loaded(crds.read_text())))
        return packaging.stored(self.name, files)

    def operator_values(self):
        return packaging.image_values("victoria-metrics")

    def operator_objects(self):
        objects = packaging.rendered(self.name, self.namespace(), self.operator_chart(), *self.values())
        return [packaging.namespace(self.namespace()), *objects]

    def whole_chart(self):
        return packaging.parent(self.whole, self.operator_chart(), self.operator_values(), [], self.custom_resources())

    def custom_resources(self):
        specs = {
            "VMCluster": {"retentionPeriod": "1", "vmstorage": {"replicaCount": 1}, "vmselect": {"replicaCount": 1},
                          "vminsert": {"replicaCount": 1}},
            "VMAgent": {"selectAllByDefault": True,
                        "remoteWrite": [{"url": "http://vminsert-main:8480/insert/0/prometheus"}]},
            "VMAlert": {"selectAllByDefault": True, "evaluationInterval": "30s",
                        "datasource": {"url": "http://vmselect-main:8481/select/0/prometheus"},
                        "notifier": {"url": "http://vmalertmanager-main:9093"}},
            "VMRule": {"groups": [{"name": "targets", "rules": [
                {"alert": "TargetDown", "expr": "up == 0", "for": "5m", "labels": {"severity": "critical"},
                 "annotations": {"summary": "{{ $labels.job }} is down"}}]}]},
        }
        return [{"apiVersion": VERSION, "kind": kind, "metadata": {"name": "main", "namespace": self.namespace()},
                 "spec": spec} for kind, spec in specs.items()]

    def came_true(self, arena):
        place = f"/apis/{VERSION}/namespaces/{self.namespace()}"
        return all(arena.ask(f"{place}/{singular}s/main")[0] == 200 for singular in GUARDED)

    def sources(self):
        return [*super().sources(), *modules.pins(f"{self.folder}/definitions"),
                *(path for path in (HERE / self.folder / "chart").rglob("*") if path.is_file())]


class VictoriaMetricsRelease(VictoriaMetrics):
    """The bundle is what `helm template` makes of the release."""
    name = "victoria-metrics-release"
    title = "the same as one Helm release, with the operator's chart in it, in the shape of kof-mothership"
    whole = "kof-mothership"

    def namespace(self):
        return "kof"

    def operator_values(self):
        return {**super().operator_values(), "fullnameOverride": f"{self.whole}-victoria-metrics-operator"}

    def objects(self):
        return [packaging.namespace(self.namespace()),
                *packaging.rendered(self.whole, self.namespace(), self.whole_chart())]


def without_conversion(definition):
    """There is one version only, and nothing that would convert it."""
    return {**definition, "spec": {key: value for key, value in definition["spec"].items() if key != "conversion"}}
