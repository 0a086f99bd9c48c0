"""Taking out again: other stories' bundles, and one whose custom resources carry a finalizer that their operator removes."""
import copy

from acid.stories_half import Renamed
from acid.story import ROOT, Story
from cluster import builds
from tests.rollout import late_webhook
from tests.rollout.late_webhook import IMAGE, LateWebhook, Shape

GUARDED = 5


class Finalizer(Story):
    """The operator takes a second to clean up after each of its custom resources, and then removes their finalizer."""
    name, kind, runs, cut = "finalizer", "out", 10, 120
    title = "custom resources with a finalizer that their operator removes, taken out as a whole"
    finalizer = "finalizer.fairlead.dev/cleanup"

    def __init__(self):
        self.parts = LateWebhook(late_webhook.Story(Shape(), self.name, late=0, guarded=GUARDED))

    def objects(self):
        group, metadata = self.parts.story.group, self.parts.metadata
        account = {"kind": "ServiceAccount", **metadata("operator")}
        rules = [{"apiGroups": [group], "resources": ["widgets"], "verbs": ["get", "list", "watch", "patch"]}]
        container = {"name": "operator", "image": IMAGE, "imagePullPolicy": "Never",
                     "args": ["finalizer", "-path", f"/apis/{group}/v1/widgets", "-takes", "1s"]}
        template = {"metadata": {"labels": {"app": "operator"}},
                    "spec": {"serviceAccountName": "operator", "containers": [container]}}
        widgets = self.parts.widgets()
        for one in widgets:
            one["metadata"]["finalizers"] = [self.finalizer]
        return [
            self.parts.namespace(), self.parts.definition(),
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata("operator")},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": self.name},
             "rules": rules},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": self.name},
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": self.name},
             "subjects": [account]},
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata("operator"),
             "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "operator"}}, "template": template}},
            *widgets]

    def guarded(self, one):
        return one["kind"] == "Widget"

    def came_true(self, arena):
        place = f"/apis/{self.parts.story.group}/v1/namespaces/{self.name}/widgets"
        operators = arena.items(f"/apis/apps/v1/namespaces/{self.name}/deployments")
        return len(arena.items(place)) == GUARDED and any(one["status"].get("readyReplicas") for one in operators)

    def unvalidated(self, arena):
        return 0

    def sources(self):
        return [ROOT / "tests/rollout/late_webhook.py", *builds.TOOLS["testpod"].glob("*.go")]


def out(story):
    result = copy.copy(story)
    result.title = f"the bundle of {story.name}, taken out as a whole"
    result.kind, result.runs, result.cut = "out", 10, 120
    return Renamed(result, f"out-{story.name}")


STORIES = [Renamed(Finalizer(), "out-finalizer")]
