"""docs/bundles.md: an introduction, one table, and what was odd of each bundle."""
from cluster import builds

INTRODUCTION = """# Manifests of public projects

Written by `./dev bundles`; do not edit. Each bundle is what a public project has in its repository: static manifests, a chart
rendered by `helm template`, or a kustomization built by `kubectl kustomize`. `bundles/list.toml` says which, and at which tags.
Nothing of them is kept here; the command fetches them (`git clone`, or `--mirrors DIR`).

Each bundle goes through the same steps, in the sandbox, where pods are played and everything is waited for, and, with `--real`, on a
real control plane without nodes, with `--no-wait`:

1. **apply** the older version with `--name`;
2. **again**: the same; everything has to be `unchanged`, or left out, as hooks of Helm are that are for installations alone. Hooks for
   upgrades run anew in every run, as with Helm, so they and what they need are `created` again;
3. **upgrade** to the newer version with `--prune`, and **again** that;
4. **delete** by name: nothing may be left.

A cell has the seconds of a step that did what it has to; else what came of it. Every step has a limit of
`$FAIRLEAD_BUNDLES_LIMIT`, or two minutes; after one that met it, only the deletion comes. No program of
the projects runs in either place: what their controllers would make is missing, webhooks have nobody behind them. Secrets and
ConfigMaps that pods of the bundle need and its manifests lack are made by the command, and empty
caBundles filled in, in the sandbox. So a step that waits for such a program cannot end well here; it is told
below, with everything else that was odd.

"""

STEPS = ["apply", "again", "upgrade", "again upgraded", "delete"]
PLACES = ["sandbox", "real"]


def cell(step):
    if step is None:
        return "–"
    seconds = f"{step['seconds']:.1f}"
    words = []
    if step["exit"] != 0:
        words.append(f"exit {step['exit']}")
    if step.get("not unchanged"):
        words.append(f"{len(step['not unchanged'])} not unchanged")
    if step.get("kept") and step["exit"] == 0:
        words.append(f"{len(step['kept'])} kept")
    if step.get("left"):
        words.append(f"{len(step['left'])} left")
    return f"**{', '.join(words)}**, {seconds}" if words else seconds


def row(name, result, place):
    steps = {one["step"]: one for one in result["places"][place]}
    objects = " → ".join(str(steps[one]["objects"]) for one in ("apply", "upgrade") if one in steps)
    return f"| {name} | {place} | {objects} | " + " | ".join(cell(steps.get(one)) for one in STEPS) + " |"


def table(results):
    lines = ["| bundle | where | objects | apply | again | upgrade | again | delete |", "|---|---|---|---|---|---|---|---|"]
    for name, result in results:
        if "failure" in result:
            lines.append(f"| {name} | not to be had | | | | | | |")
        lines += [row(name, result, place) for place in PLACES if place in result.get("places", {})]
    return "\n".join(lines)


def shortened(lines, most=8):
    return lines if len(lines) <= most else [*lines[:most], f"… and {len(lines) - most} more"]


def oddities(result):
    """(where and which step, lines): what was said in the steps that did not go well, and all warnings."""
    for place in PLACES:
        before = None
        for step in result.get("places", {}).get(place, []):
            said = list(dict.fromkeys(line for line in step["said"] if line.strip()))
            lines = shortened(said, 12) + shortened([f"not unchanged: {one}" for one in step.get("not unchanged", [])])
            lines += shortened([f"kept: {one}" for one in step.get("kept", [])])
            lines += shortened([f"left: {one}" for one in step.get("left", [])])
            if lines:
                yield f"{place}, {step['step']}", ["as before"] if lines == before else lines
            before = lines


def details(name, bundle, result):
    source = " ".join(bundle.get("files", []) + bundle.get("charts", []) + bundle.get("kustomize", []))
    lines = [f"## {name}", "", f"[{bundle['repository']}](https://github.com/{bundle['repository']}), "
             f"{' and '.join(bundle['versions'])}: `{source}`", ""]
    if "failure" in result:
        lines += ["```", *result["failure"].splitlines(), "```", ""]
    for where, said in oddities(result):
        lines += [f"{where}:", "```", *said, "```", ""]
    return "\n".join(lines)


def page(bundles, results):
    there = [(name, results[name]) for name in sorted(bundles) if name in results]
    text = INTRODUCTION + f"Kubernetes {builds.default_release().version}. Seconds are of a machine that does other things beside it.\n\n"
    text += table(there) + "\n\n"
    return text + "\n".join(details(name, bundles[name], result) for name, result in there)
