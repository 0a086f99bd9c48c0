"""The page of the acid test of the gate: docs/acid-gate.md."""
from acid import tables

INTRODUCTION = """# The acid test of the gate

Written by `./dev acid --gate`; do not edit. The tools that people use, unchanged, put operators and what their webhooks guard into
fresh clusters of one node, with the [gate](gate.md) in the cluster and without it. Each tool has one attempt in each run.

""" + tables.MEANINGS + """- kubectl gets CRDs and namespaces in a first step, with the gate and without it: it knows no kinds whose CRDs are in the same file.
  helm 3 and 4 are tried in two ways: the operator with `--wait` and then kubectl, and all in one release.

"""


def counted(known, arms, summaries):
    cells = [summaries[story.name, arm.name] for story in known for arm in arms]
    measured = [len(one.rows) for one in cells if one]
    runs = tables.between((min(measured), max(measured))) if measured else "0"
    return f"{len(measured)} of {len(cells)} cells are measured, with {runs} run{'' if runs == '1' else 's'} each"


def document(known, arms, summaries, goals):
    shown = [story for story in known if any(summaries[story.name, arm.name] for arm in arms)]
    gated = [arm for arm in arms if arm.has_gate]
    others = [arm for arm in arms if not arm.has_gate]
    parts = [INTRODUCTION, "![The stories as timelines](acid-gate.svg)\n", tables.measured(summaries) + "\n",
             f"Tools: {', '.join(f'{arm.name} {arm.version()}' for arm in others)}. Fairlead: {builds_of(gated, known, summaries)}.\n",
             "## With the gate\nFirst attempts that succeeded, median seconds. "
             f"{counted(known, gated, summaries)}.\n",
             tables.markdown(tables.overview(known, gated, summaries)) + "\n",
             f"## Without the gate\n{counted(known, others, summaries)}.\n",
             tables.markdown(tables.overview(known, others, summaries)) + "\n",
             "## What the gate must show\n", tables.markdown([["goal", "holds", "measured"], *map(list, goals)]) + "\n"]
    for story in shown:
        parts += [f"## {story.name}\n{story.title}.\n", tables.detail(story, arms, summaries) + "\n"]
    return "\n".join(parts)


def builds_of(arms, known, summaries):
    """The builds of Fairlead that the gate was."""
    found = {row["tool_version"].rpartition(" with ")[2] for story in known for arm in arms for row in summaries[story.name, arm.name].rows}
    return ", ".join(sorted(found)) or "–"
