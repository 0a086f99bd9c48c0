"""The tools: how each puts a bundle in and takes it out again, as its own documentation says to use it."""
import functools
import hashlib
import json
import os
import pathlib

from acid import bundles, rest
from acid.arena import kubectl
from acid.story import ROOT
from cluster import builds
from peers import peers

FAIRLEAD = pathlib.Path(os.environ.get("FAIRLEAD", ROOT / "build/fairlead"))
GUARDS = ("Namespace", "CustomResourceDefinition", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")


class Tool:
    """`one` of the helms has everything in one release; the others put the guarded objects in with kubectl afterwards."""
    name = ""
    title = ""
    out_title = ""  # of taking out
    runs = 3
    is_ours = False  # what the test is about

    def there(self):
        """Whether it could be built here."""
        return True

    def version(self):
        """As people call it."""
        raise NotImplementedError

    def identity(self):
        """Changes whenever its runs have to be made anew."""
        return self.version()

    def versions(self, identities):
        """As people call those that runs were made with."""
        return self.version()

    def put_in(self, story, folder):
        """The commands of one attempt. What they read is written into the folder."""
        raise NotImplementedError

    def put_half_in(self, story, folder, half):
        """The commands that leave the cluster as an interrupted attempt does: only `half` was sent, nothing was waited for."""
        raise NotImplementedError

    def bring_in(self, story, folder):
        """The commands that put in what take_out() is then measured with."""
        return self.put_in(story, folder)

    def take_out(self, story, folder):
        """The commands that take out what bring_in() has put in, from the same folder."""
        raise NotImplementedError


def rest_of(story):
    return [one for one in story.objects() if not story.guarded(one)]


def guarded_of(story):
    return [one for one in story.objects() if story.guarded(one)]


class Fairlead(Tool):
    name, title, out_title = "fairlead", "fairlead apply", "fairlead delete"
    is_ours = True

    @functools.cache
    def identity(self):
        return hashlib.sha256(FAIRLEAD.read_bytes()).hexdigest()[:12]

    def version(self):
        return f"build {self.identity()}"

    def versions(self, identities):
        return " and ".join(f"build {one}" for one in identities)

    def put_in(self, story, folder):
        file = bundles.bundle(folder / "bundle.yaml", story.objects())
        return [[FAIRLEAD, "apply", "-f", file, "--name", story.name]]

    def put_half_in(self, story, folder, half):
        return [[FAIRLEAD, "apply", "-f", bundles.bundle(folder / "half.yaml", half), "--name", story.name, "--no-wait"]]

    def take_out(self, story, folder):
        return [[FAIRLEAD, "delete", "--name", story.name]]


class Kubectl(Tool):
    out_title = "kubectl delete -f"

    def __init__(self, name, title, *flags):
        self.name, self.title, self.flags = name, title, flags

    def version(self):
        return builds.default_release().version

    def apply(self, path):
        return [kubectl(), "apply", *self.flags, "-f", path]

    def put_in(self, story, folder):
        return [self.apply(bundles.bundle(folder / "bundle.yaml", story.objects()))]

    def put_half_in(self, story, folder, half):
        return [self.apply(bundles.bundle(folder / "half.yaml", half))]

    def bring_in(self, story, folder):
        """On the server's side: large CRDs do not fit into the annotation that plain apply keeps."""
        return [[*self.apply(bundles.bundle(folder / "bundle.yaml", story.objects())), "--server-side"]]

    def take_out(self, story, folder):
        return [[kubectl(), "delete", "-f", folder / "bundle.yaml"]]


class Peer(Tool):
    def __init__(self, name, title, out_title, binary):
        self.name, self.title, self.out_title, self.binary = name, title, out_title, binary

    def there(self):
        return peers.binary(self.binary) is not None

    def version(self):
        return peers.VERSIONS[self.binary].split()[-1]


class Helm(Peer):
    def release(self, story, chart, *flags):
        return [peers.binary(self.binary), "upgrade", "--install", story.name, chart, "--namespace", story.namespace(),
                "--create-namespace", *flags, *story.values()]

    def put_in(self, story, folder):
        chart = story.chart() or bundles.chart(folder / "chart", story.name, rest_of(story), story.namespace())
        guarded = bundles.bundle(folder / "guarded.yaml", guarded_of(story))
        return [self.release(story, chart, "--wait"), [kubectl(), "apply", "-f", guarded]]

    def definitions_apart(self, story):
        """As in the chart that comes after the half: helm does not take over what is not in a release."""
        return story.chart() is None or (story.chart() / "crds").exists()

    def put_half_in(self, story, folder, half):
        chart = bundles.chart(folder / "half", story.name, half, story.namespace(), self.definitions_apart(story))
        return [self.release(story, chart)]

    def uninstall(self, story):
        return [peers.binary(self.binary), "uninstall", story.name, "--namespace", story.namespace(), "--wait"]

    def take_out(self, story, folder):
        return [[kubectl(), "delete", "-f", folder / "guarded.yaml"], self.uninstall(story)]


class HelmInOne(Helm):
    def definitions_apart(self, story):
        return True

    def put_in(self, story, folder):
        chart = story.whole_chart() or bundles.chart(folder / "chart", story.name, story.objects(), story.namespace())
        return [self.release(story, chart, "--wait")]

    def take_out(self, story, folder):
        return [self.uninstall(story)]


class Kapp(Peer):
    def deploy(self, story, path, *flags):
        return [peers.binary("kapp"), "deploy", "-a", story.name, "-f", path, "-y", *flags]

    def put_in(self, story, folder):
        return [self.deploy(story, bundles.bundle(folder / "bundle.yaml", story.objects()))]

    def put_half_in(self, story, folder, half):
        return [self.deploy(story, bundles.bundle(folder / "half.yaml", half), "--wait=false")]

    def take_out(self, story, folder):
        return [[peers.binary("kapp"), "delete", "-a", story.name, "-y"]]


class Limit(Tool):
    """No tool, but the earliest moment that any could reach: everything is sent without a pause until it is taken."""
    name, title = "limit", "limit"

    def version(self):
        return "–"

    def identity(self):
        return builds.tool("loadgen").name

    def commands(self, story, arena):
        """In three steps, because whoever does not order has to be given things in an order that works."""
        objects = story.limit_objects()
        known = rest.resources(arena, objects, story.resources())
        steps = [[one for one in objects if one["kind"] in GUARDS],
                 [one for one in objects if one["kind"] not in GUARDS and not story.guarded(one)],
                 [one for one in objects if story.guarded(one)]]
        result = []
        for number, step in enumerate(steps):
            path = arena.folder / f"limit-{number}.jsonl"
            path.write_text("".join(json.dumps({"path": rest.path(one, known), "object": one}) + "\n" for one in step))
            # One at a time of what is guarded: the processors are for the operator.
            result.append([builds.tool("loadgen"), "-kubeconfig", arena.tool_kubeconfig, "-objects", path,
                           "-until-accepted", "-limit", f"{story.cut}s", "-in-flight", "1" if number == 2 else "16"])
        return [command for command, step in zip(result, steps) if step]


TOOLS = [Fairlead(), Limit(), Kubectl("kubectl", "kubectl apply"),
         Kubectl("kubectl-ssa", "kubectl apply --server-side", "--server-side"),
         Helm("helm3", "helm 3 --wait, then kubectl", "kubectl delete, then helm 3 uninstall --wait", "helm3"),
         HelmInOne("helm3-one", "helm 3 --wait, one release", "helm 3 uninstall --wait, one release", "helm3"),
         Helm("helm4", "helm 4 --wait, then kubectl", "kubectl delete, then helm 4 uninstall --wait", "helm4"),
         HelmInOne("helm4-one", "helm 4 --wait, one release", "helm 4 uninstall --wait, one release", "helm4"),
         Kapp("kapp", "kapp deploy", "kapp delete", "kapp")]
