"""What stories of operators have in common: a chart of its makers', images made here, resources that its webhooks guard."""
import pathlib

from acid import audit
from acid.operators import modules, packaging
from acid.story import Story

HERE = pathlib.Path(__file__).resolve().parent


class OperatorStory(Story):
    folder = ""        # has the go.mod that pins the module
    group = ""         # of the custom resources
    webhooks: dict[str, tuple[str, ...]] = {}      # name of a webhook that validates -> plurals of what it guards

    def operator_chart(self):
        """The folder of the makers' chart."""
        raise NotImplementedError

    def operator_values(self):
        """What the chart has to be told, as a tree, as the makers' documentation says; and our images."""
        raise NotImplementedError

    def operator_objects(self):
        """What the makers publish for kubectl."""
        raise NotImplementedError

    def custom_resources(self):
        """The custom resources that lean on the operator."""
        raise NotImplementedError

    def objects(self):
        return [*self.operator_objects(), *self.custom_resources()]

    def guarded(self, one):
        return one["apiVersion"].startswith(f"{self.group}/")

    def chart(self):
        return self.operator_chart()

    def values(self):
        folder = packaging.stored(f"{self.name}-values", {"values.yaml": packaging.documents([self.operator_values()])})
        return ["--values", str(folder / "values.yaml")]

    def whole_chart(self):
        """One where helm has the best chance: the definitions are not among the templates of the makers' chart."""
        definitions = list(filter(packaging.is_definition, self.operator_objects()))
        return packaging.parent(self.name, self.operator_chart(), self.operator_values() | {"installCRDs": False},
                                definitions, self.custom_resources())

    def counted(self):
        return [(self.group, plural) for plurals in self.webhooks.values() for plural in plurals]

    def unvalidated(self, arena):
        """What was created is in the audit log; how often each webhook has allowed a creation, in the metrics."""
        metrics = arena.metrics()
        places = {one["metadata"].get("namespace") for one in self.custom_resources()}
        created = [event["objectRef"]["resource"] for event in arena.log.events()
                   if is_creation(event, self.group, places)]
        return sum(unasked(metrics, webhook, sum(map(created.count, plurals)))
                   for webhook, plurals in self.webhooks.items())

    def sources(self):
        return [*modules.pins(self.folder), *(HERE / self.folder).glob("*.go"), modules.__file__, packaging.__file__]


def unasked(metrics, webhook, created):
    allowed = audit.metric(metrics, "apiserver_admission_webhook_request_total", name=webhook, type="validating",
                           operation="CREATE", code="200", rejected="false")
    return max(created - allowed, audit.let_through(metrics, webhook))


def is_creation(event, group, namespaces):
    """Dry runs count too: webhooks are asked about them as well. In other namespaces the webhooks need not guard anything:
    that of cert-manager itself is left out where it has the label that helm gives it."""
    place = event.get("objectRef", {})
    return (event["verb"] in ("create", "patch") and event.get("responseStatus", {}).get("code") == 201
            and place.get("apiGroup", "") == group and place.get("namespace") in namespaces and "subresource" not in place)


def has_condition(one, kind):
    """Of the object as it is now, not of an earlier form of it."""
    return any(condition["type"] == kind and condition["status"] == "True"
               and condition.get("observedGeneration", one["metadata"]["generation"]) == one["metadata"]["generation"]
               for condition in one.get("status", {}).get("conditions", []))
