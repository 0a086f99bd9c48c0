"""What a story is: a bundle, what is in the cluster before it, and how to tell what came of it."""
import contextlib
import functools
import hashlib
import inspect
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Story:
    """One story. `kind` says what is asked of the tools: to put the bundle `in`, to say why that can `never` be done, or to
    take it `out` again. An `arena` (arena.py) is the fresh cluster of one run."""
    name = ""
    title = ""      # one line for the reader of the table
    kind = "in"
    runs = 10       # of Fairlead
    cut = 180       # seconds after which a run is over
    half_built = False  # the first half of the bundle is there from an interrupted run of the same tool
    images = ()     # archives to load into the fresh cluster

    def objects(self):
        """The whole bundle, in the order in which its makers ship it, custom resources last."""
        raise NotImplementedError

    def guarded(self, one):
        """Whether this object leans on the operator: it is what the other tools have to put in after it."""
        raise NotImplementedError

    def namespace(self):
        """Of the release."""
        return self.name

    def chart(self):
        """The folder of the operator's own chart, without the guarded objects; nothing: one is made from objects()."""
        return None

    def whole_chart(self):
        """The folder of a chart with the guarded objects in it; nothing: one is made from objects()."""
        return None

    def values(self):
        """Arguments for helm that go with the charts."""
        return []

    def limit_objects(self):
        """The bundle as the limit gets it: where webhooks are skipped that do not answer (Ignore), only Fail shows when the
        first write can be validated."""
        return [with_fail(one) for one in self.objects()]

    def before(self, arena):
        """Puts into the cluster what is there before the tool starts."""

    @contextlib.contextmanager
    def during(self, arena):
        """Runs beside the tool."""
        yield

    def came_true(self, arena):
        """Whether the guarded objects have taken effect. Asked every 50 ms, so it asks little of the API server."""
        raise NotImplementedError

    def unvalidated(self, arena):
        """How many guarded objects were stored without having been validated; asked when the run is over."""
        raise NotImplementedError

    def names_the_cause(self, line):
        """Of a story of the kind `never`: whether this line of a tool's output names the root cause."""
        raise NotImplementedError

    def evident(self, arena):
        """Of a story of the kind `never`: whether the cluster shows the root cause by now. Asked every 50 ms."""
        return True

    def kept(self):
        """What the operator keeps by design when all of it is taken out: "PLURAL NAMESPACE NAME" each."""
        return set()

    def counted(self):
        """(group, plural) of the resources whose writes the audit log keeps, whoever writes."""
        return []

    def resources(self):
        """(apiVersion, kind) -> (plural, whether it is in a namespace), of what no definition in the bundle tells."""
        return {}

    def sources(self):
        """Files that the story is made of, beside those of its class."""
        return []

    @functools.cache
    def version(self):
        """Changes with everything that the story is made of."""
        digest = hashlib.sha256()
        files = {inspect.getsourcefile(one) for one in type(self).__mro__ if one not in (Story, object)}
        for path in sorted(map(pathlib.Path, {*files, *self.sources()}), key=str):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
        return digest.hexdigest()[:12]


def with_fail(one):
    if not one["kind"].endswith("WebhookConfiguration"):
        return one
    return {**one, "webhooks": [{**hook, "failurePolicy": "Fail"} for hook in one["webhooks"]]}
