"""What it costs to see a run: the page of --timeline, the plan, and the live view.

./dev bench seeing [--json] [--rounds N] [--objects N] [--planned N] [--only page|plan|live]
"""
import argparse
import json
import pathlib
import sys
import tempfile

from bench._clusters import cluster, heed_signals
from bench._figures import Arm, Figures, Run, interleave
from bench._live_view import live_view
from bench._mixed import Mixed
from tests.timeline import journals
from tests.timeline.browser import Browser

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAIRLEAD = ROOT / "build/fairlead"


def timeline(figures, folder, rounds, objects):
    """The page of a run of that many objects: its size, the time to make it, and the time until chromium has drawn it."""
    journal, page = folder / "run.jsonl", folder / "run.html"
    journal.write_text(journals.rollout(objects))
    command = [FAIRLEAD, "timeline", journal, "-o", page]
    with Browser() as browser:
        def draw(_):
            browser.open(page)
            return browser.run("""new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() =>
                resolve((performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now())))))""")

        made = Arm("page of a run, ms to make", lambda _: Run(command).seconds * 1000)
        drawn = Arm("page of a run, ms until it is drawn", draw)
        interleave([made, drawn], rounds)
    size = Arm("page of a run, MB", None)
    size.values.append(page.stat().st_size / 1e6)
    figures.value_at_most(f"page of {objects} objects, MB", size, 2)
    figures.value_at_most(f"page of {objects} objects, ms to make", made, 200)
    figures.value_at_most(f"page of {objects} objects, ms until it is drawn", drawn, 1000)


def changed_manifest(path, name, objects, changes):
    """Writes the objects of a bundle, the first so many ConfigMaps among them with another text."""
    texts = []
    for _, one in Mixed(name, objects).objects():
        if one["kind"] == "ConfigMap" and changes > 0:
            one["data"]["text"] = "the lazy dog sleeps"
            changes -= 1
        texts.append(json.dumps(one))
    path.write_text("\n---\n".join(texts))
    return path


def plan(figures, folder, rounds, objects, changes=10):
    """A plan of many objects of which a few changed, beside kubectl diff --server-side of as many."""
    peak = Arm("fairlead plan, peak memory, MiB", None)
    with cluster("plane", "--control-plane") as (kubectl, kubeconfig):
        env = {"KUBECONFIG": str(kubeconfig)}
        ours = [FAIRLEAD, "apply", "--name", "bundle", "-o", "quiet", "-f"]
        Run([*ours, changed_manifest(folder / "ours.yaml", "ours", objects, 0)], env)
        Run([kubectl, "apply", "--server-side", "-f", changed_manifest(folder / "theirs.yaml", "theirs", objects, 0)], env)
        changed = {name: changed_manifest(folder / f"{name}-changed.yaml", name, objects, changes)
                   for name in ("ours", "theirs")}

        def fairlead_plan(_):
            run = Run([FAIRLEAD, "plan", "--name", "bundle", "-f", changed["ours"]], env, codes=(2,))
            peak.values.append(run.peak_mib)
            return run.seconds

        fairlead = Arm("fairlead plan, s", fairlead_plan)
        diff = Arm("kubectl diff --server-side, s",
                   lambda _: Run([kubectl, "diff", "--server-side", "-f", changed["theirs"]], env, codes=(1,)).seconds)
        interleave([fairlead, diff], rounds)
    figures.at_most(f"plan of {objects} objects, {changes} changed, s, to kubectl diff --server-side", fairlead, diff, 0.2)
    figures.value_at_most("the same, peak memory, MB", peak, 100)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--objects", type=int, default=5000, help="of the run that the page shows")
    parser.add_argument("--planned", type=int, default=3000, help="objects of the plan")
    parser.add_argument("--only", choices=["page", "plan", "live"], help="one part of it")
    options = parser.parse_args()
    heed_signals()
    figures = Figures()
    with tempfile.TemporaryDirectory() as folder:
        if options.only in (None, "page"):
            timeline(figures, pathlib.Path(folder), options.rounds, options.objects)
        if options.only in (None, "plan"):
            plan(figures, pathlib.Path(folder), options.rounds, options.planned)
        if options.only in (None, "live"):
            live_view(figures, FAIRLEAD, folder, options.rounds)
    return 0 if figures.print(options.json) else 1


if __name__ == "__main__":
    sys.exit(main())
