"""The acid test of the gate: tools that know nothing of webhooks, with the gate in the cluster and without it.

An arm is a tool with or without the gate. Both get the same commands.
"""
import functools
import pathlib
import subprocess

from acid import bundles, running
from acid.arena import cluster_tool, kubectl
from acid.operators.packaging import is_definition
from acid.stories import stories
from acid.tools import FAIRLEAD, TOOLS, Kubectl, Tool
from cluster import builds, images
from cluster.settings import Failure
from scripts import container_image

IMAGE = "fairlead.dev/fairlead:acid"
NAMES = ("victoria-metrics", "victoria-metrics-release", "external-secrets", "cert-manager", "late", "ignore", "mutating", "late-ca",
         "half-built-late", "half-built-external-secrets", "half-built-cert-manager")
RUNS, RUNS_WITHOUT = 5, 1


@functools.cache
def gate_stories():
    known = {story.name: story for story in stories()}
    return [known[name] for name in NAMES]


def is_foundation(one):
    return is_definition(one) or one["kind"] == "Namespace"


class KubectlInSteps(Kubectl):
    """kubectl knows no kinds whose CRDs are in the same file, gate or not: whoever uses it applies these first. They go in on the
    server's side, because large CRDs do not fit into the annotation that plain apply keeps."""

    def put_in(self, story, folder):
        first = [one for one in story.objects() if is_foundation(one)]
        rest = [one for one in story.objects() if not is_foundation(one)]
        names = [f"crd/{one['metadata']['name']}" for one in first if is_definition(one)]
        steps = [[kubectl(), "apply", "--server-side", "-f", bundles.bundle(folder / "first.yaml", first)]] if first else []
        steps += [[kubectl(), "wait", "--for=condition=Established", *names]] if names else []
        return [*steps, self.apply(bundles.bundle(folder / "bundle.yaml", rest))]


class Arm(Tool):
    """A tool without the gate. Its results are apart from those of the tool alone."""
    runs = RUNS_WITHOUT
    has_gate = False

    def __init__(self, tool):
        self.tool = tool
        self.name, self.title = tool.name, tool.title

    def there(self):
        return self.tool.there()

    def version(self):
        return self.tool.version()

    def identity(self):
        return self.tool.identity()

    def prepare(self, arena):
        pass

    def put_in(self, story, folder):
        return self.tool.put_in(story, folder)

    def put_half_in(self, story, folder, half):
        return self.tool.put_half_in(story, folder, half)


class GatedArm(Arm):
    """The tool in a cluster that has the gate, as `fairlead gate install` puts it there."""
    runs = RUNS
    has_gate = True
    is_ours = True

    def __init__(self, tool):
        super().__init__(tool)
        self.name, self.title = f"{tool.name}+gate", f"{tool.title}, with the gate"

    def identity(self):
        return f"{self.tool.identity()} with build {TOOLS[0].identity()}"

    def prepare(self, arena):
        cluster_tool("load-image", "--name", arena.name, str(image()))
        done = subprocess.run([FAIRLEAD, "gate", "install", "--image", IMAGE, "--image-pull-policy", "Never", "--timeout", "3m"],
                              env=arena.env, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure("the gate cannot be installed", (done.stdout + done.stderr)[-1000:])


@functools.cache
def image():
    """The archive of an image with the gate in it."""
    inputs = [FAIRLEAD, pathlib.Path(container_image.__file__)]
    return builds.made("fairlead-image", inputs, ".tar", lambda path: container_image.write(
        {images.ARCHITECTURE: FAIRLEAD}, path, IMAGE, container_image.labels_of("acid")))


def in_steps(tool):
    return KubectlInSteps(tool.name, f"{tool.title}, CRDs first", *tool.flags) if isinstance(tool, Kubectl) else tool


OTHERS = [in_steps(tool) for tool in TOOLS if tool.name not in ("fairlead", "limit")]
ARMS = [arm for tool in OTHERS for arm in (GatedArm(tool), Arm(tool))]


def wanted_runs(_, arm, asked):
    """So many runs as are asked for with the gate. Without it they only show what there is to gain."""
    if asked is None:
        return arm.runs
    return asked if arm.has_gate else min(asked, arm.runs)


def run(story, arm):
    return running.run(story, arm, arm.prepare)


def judged(known, arms, summaries):
    """(goal, whether it holds, what was measured), of the stories that have runs with the gate."""
    rows = []
    for story in known:
        ours = [summaries[story.name, arm.name] for arm in arms if arm.has_gate]
        measured = [one for one in ours if one]
        if not measured:
            continue
        lost = [one for one in measured if len(one.won) < len(one.rows)]
        missing = len(measured) < len(ours) or any(len(one.rows) < RUNS for one in measured)
        runs, won = sum(len(one.rows) for one in measured), sum(len(one.won) for one in measured)
        said = f"{won} of {runs}, by {len(measured)} of {len(ours)} tools"
        if lost:
            said += f"; not {', '.join(one.tool.name for one in lost)}"
        rows.append((f"{story.name}: every tool, {RUNS} of {RUNS} first attempts", "NO" if lost else "not yet" if missing else "yes", said))
        unvalidated = max(one.unvalidated for one in measured)
        rows.append((f"{story.name}: nothing stored unvalidated", "yes" if unvalidated == 0 else "NO", str(unvalidated)))
    return rows
