"""The table: on the terminal a cell for each tool and story, in the document one table for each story."""
import os
import pathlib
import platform
import time

from acid.summary import between, seconds
from cluster import builds

MEANINGS = """- **first attempt**: the tool ended with exit code 0, the custom resources took effect, and none was stored without having been
  validated.
- **unvalidated**: the most guarded objects that one run stored without having been validated, by the webhook's own record
  or by the API server's audit log and metrics.
- **seconds**: from the start of the tool until the custom resources had really taken effect; the median of the first attempts
  that succeeded, and their range.
"""

INTRODUCTION = """# The acid test

Written by `./dev acid`; do not edit. Real operators, built from their public Go modules, and webhooks of our own run as pods on a
real cluster. Each run has a fresh cluster, and each tool one attempt, as its own documentation says to use it.

""" + MEANINGS + """- **requests**: of the tool, from the API server's audit log. **memory**: its peak.
- **limit** is no tool: everything is sent without a pause until it is taken (where a webhook is skipped when it does not answer,
  with Fail in place of Ignore). No tool could be earlier, except that the hammering itself costs the cluster time.
- In **never**, seconds are those until the tool named the root cause; each run is cut at 2 minutes.
- In **out**, first attempt means: gone entirely, with exit code 0; seconds are those until it was. CRDs in a chart's `crds/` and
  the namespace of a release are what helm leaves by design.

"""


def cell(summary):
    """One of the overview."""
    if not summary:
        return ""
    story = summary.story
    if story.kind == "never":
        return f"{seconds(summary.median)} s" if summary.times else "not named"
    text = f"{len(summary.won)}/{len(summary.rows)}"
    if summary.times:
        text += f", {seconds(summary.median)} s"
    if summary.unvalidated:
        text += f", {summary.unvalidated} unvalidated"
    if summary.left:
        text += f", {max(row.get('left_count', 0) for row in summary.rows)} left"
    if summary.hung and not summary.won:
        text += ", hung"
    return text


def quickest(story, tools, summaries):
    """The tool with the least median of those that succeeded in every run."""
    always = [summaries[story.name, tool.name] for tool in tools if tool.name != "limit"]
    always = [one for one in always if one.times and len(one.won) == len(one.rows)]
    return min(always, key=lambda one: one.median).tool if always else None


def overview(stories, tools, summaries, emphasis=""):
    """Rows of cells, the first of them the heading; tools and stories without any run are left out. Emphasis goes around the
    cell of the quickest tool."""
    def marked(story, tool):
        text = cell(summaries[story.name, tool.name])
        return f"{emphasis}{text}{emphasis}" if tool is quickest(story, tools, summaries) else text
    tools = [tool for tool in tools if any(summaries[story.name, tool.name] for story in stories)]
    stories = [story for story in stories if any(summaries[story.name, tool.name] for tool in tools)]
    return [["story", *(tool.name for tool in tools)],
            *([story.name, *(marked(story, tool) for tool in tools)] for story in stories)]


def aligned(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows)


def markdown(rows):
    def line(cells):
        return "| " + " | ".join(text.replace("|", "\\|").replace("\n", " ") for text in cells) + " |"
    return "\n".join([line(rows[0]), "|" + "---|" * len(rows[0]), *map(line, rows[1:])])


def code(text):
    return f"`{text.replace('`', chr(39))}`" if text else ""


def detail(story, tools, summaries):
    """The table of one story."""
    heading = {"in": ["tool", "first attempt", "unvalidated", "seconds", "requests", "memory, MiB", "what the user saw"],
               "never": ["tool", "seconds", "requests", "its words"],
               "out": ["tool", "first attempt", "seconds", "errors shown", "left over", "requests", "what the user saw"]}
    rows = [heading[story.kind]]
    for tool in tools:
        one = summaries[story.name, tool.name]
        if one:
            rows.append([tool.out_title if story.kind == "out" else tool.title, *detail_cells(story, one)])
    return markdown(rows)


def detail_cells(story, one):
    times = f"{seconds(one.median)} ({between((one.times[0], one.times[-1]), seconds)})" if one.times else "–"
    first = f"{len(one.won)} of {len(one.rows)}"
    requests = between(one.span("requests"))
    saw = "" if len(one.won) == len(one.rows) else saw_words(one)
    if story.kind == "in":
        memory = between(one.span("peak_mib"), lambda value: f"{value:.0f}")
        return [first, str(one.unvalidated), times, requests, memory, saw]
    if story.kind == "never":
        row = one.rows[0]
        if row["ok"]:
            return [seconds(row["seconds"]), requests, code(row["named"])]
        last = code(row["words"]) if row["words"] else "nothing"
        return ["never", requests, f"{'cut at 2 minutes' if row['hung'] else 'ended'}; last: {last}"]
    left = ", ".join(one.left[:6]) + (" …" if len(one.left) > 6 else "")
    return [first, times, between(one.span("errors")), left, requests, saw]


def saw_words(one):
    if one.words:
        return code(one.words)
    return "hung" if one.hung else "success"


def machine():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    model = next((line.partition(":")[2].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} cores ({model}), {memory:.0f} GiB of memory, Linux {platform.release()}"


def identities(tool, stories, summaries):
    """What the runs of a tool were made with, and in which stories where that is not the same in all."""
    found: dict = {}
    for story in stories:
        for row in summaries[story.name, tool.name].rows:
            found.setdefault(row["tool_version"], set()).add(story.name)
    most = max(map(len, found.values()), default=0)
    return [one if len(names) == most else f"{one} ({', '.join(sorted(names))})"
            for one, names in sorted(found.items(), key=lambda item: -len(item[1]))]


def measured(summaries):
    """When and where, in a sentence."""
    dates = [row["at"] for summary in summaries.values() for row in summary.rows]
    days = "–".join(dict.fromkeys(time.strftime("%Y-%m-%d", time.gmtime(at)) for at in (min(dates), max(dates))))
    at_once = max(row.get("at_once", 1) for summary in summaries.values() for row in summary.rows)
    beside = f", up to {at_once} runs at a time" if at_once > 1 else ""
    return f"Measured {days} on {machine()}{beside}; Kubernetes {builds.default_release().version}."


def document(stories, tools, summaries, goals):
    shown = [story for story in stories if any(summaries[story.name, tool.name] for tool in tools)]
    versions = ", ".join(f"{tool.name} {tool.versions(identities(tool, shown, summaries))}" for tool in tools
                         if tool.name != "limit")
    parts = [INTRODUCTION, f"![The stories as timelines](acid-{builds.default_release().name}.svg)\n",
             f"{measured(summaries)}\n\nTools: {versions}.\n",
             "## Overview\nFirst attempts that succeeded, median seconds. Bold: the quickest of those that always did.\n",
             markdown(overview(stories, tools, summaries, "**")) + "\n",
             "## What Fairlead must show\n", markdown([["goal", "holds", "measured"], *goals]) + "\n"]
    for story in shown:
        parts += [f"## {story.name}\n{story.title}.\n", detail(story, tools, summaries) + "\n"]
    return "\n".join(parts)
