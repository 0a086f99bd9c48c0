"""Stories of webhooks of our own: they run in a pod that is Ready three seconds before they listen."""
import contextlib
import threading

from acid.story import ROOT, Story
from cluster import builds
from tests.rollout import late_webhook
from tests.rollout.late_webhook import LateWebhook, Shape

LATE = 3.0


class Webhook(Story):
    """The webhook's own record judges what was stored past it."""
    runs = 20

    def __init__(self, name, title, late=LATE, **shape):
        self.name, self.title = name, title
        self.webhook = LateWebhook(late_webhook.Story(Shape(**shape), name, late=late))

    def objects(self):
        return [*self.webhook.foundation(), *self.webhook.widgets()]

    def guarded(self, one):
        return one["kind"] == "Widget"

    def stored(self, arena):
        group = self.webhook.story.group
        return {one["metadata"]["name"]: one for one in arena.items(f"/apis/{group}/v1/namespaces/{self.name}/widgets")}

    def came_true(self, arena):
        return len(self.stored(arena)) == self.webhook.story.guarded

    def unvalidated(self, arena):
        stored = self.stored(arena)
        if not stored:
            return 0
        seen = late_webhook.seen_by_webhook(arena, self.webhook)
        if self.webhook.story.shape.kind == "validating":
            return sum(one["metadata"]["uid"] not in seen.get(name, ()) for name, one in stored.items())
        if self.webhook.story.shape.kind == "mutating":
            return sum("testpod/mutated" not in one["metadata"].get("annotations", {}) for one in stored.values())
        return sum(name not in seen for name in stored)

    def sources(self):
        return [ROOT / "tests/rollout/late_webhook.py", *builds.TOOLS["testpod"].glob("*.go")]


class LateAuthority(Webhook):
    """A controller injects the caBundle two seconds after the configuration appears."""
    DELAY = 2.0

    @contextlib.contextmanager
    def during(self, arena):
        over = threading.Event()

        def inject():
            kind, name = self.webhook.story.configuration
            while arena.kubectl("wait", "--for=create", f"{kind}/{name}", "--timeout=30s", check=False).returncode != 0:
                if over.is_set():
                    return
            if not over.wait(self.DELAY):
                arena.inject_certificate(self.webhook)
        injector = threading.Thread(target=inject)
        injector.start()
        try:
            yield
        finally:
            over.set()
            injector.join()


STORIES = [
    Webhook("late", "a webhook that must be asked (Fail); its pod is Ready 3 s before it listens"),
    Webhook("ignore", "the same, skipped where it does not answer (Ignore)", policy="Ignore"),
    Webhook("mutating", "a mutating webhook under Ignore: what misses it is stored unchanged", kind="mutating",
            policy="Ignore"),
    LateAuthority("late-ca", "a controller injects the caBundle 2 s after the configuration appears", late_certificate=True),
    Webhook("conversion", "a CRD whose stored version needs a conversion webhook", kind="conversion"),
]
