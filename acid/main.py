"""The acid test: real operators, the tools that people use today, and Fairlead, in one table.

Every run has a fresh cluster. Results are kept as they come: a run that was interrupted is gone on with, and what was measured
with the same tool and the same story is not measured again.
"""
import argparse
import itertools
import multiprocessing
import os
import pathlib
import signal
import sys
from typing import Any

from acid import gate, gate_page, goals, running, tables, timelines
from acid.arena import CACHE
from acid.results import Results
from acid.stories import stories
from acid.story import ROOT
from acid.summary import Summary
from acid.tools import TOOLS
from cluster import builds
from cluster.settings import Failure, say

ATTEMPTS_OF_THE_HARNESS = 2


def parsed(arguments):
    parser = argparse.ArgumentParser(prog="./dev acid", description=__doc__.splitlines()[0])
    parser.add_argument("story", nargs="*", help="which stories: a name, or the beginning of several (default: all)")
    parser.add_argument("--tools", default="", help="which tools, with commas between them (default: all)")
    parser.add_argument("--kubernetes", default=builds.default_name(), metavar="V",
                        help="on which Kubernetes; each has results and a page of its own (default: %(default)s)")
    parser.add_argument("--gate", action="store_true", help="the other tools, with the gate in the cluster and without it: "
                        "docs/acid-gate.md")
    parser.add_argument("--runs", type=int, help="how many runs of each; of the peers never more than 3, and without the gate never "
                        "more than 1")
    parser.add_argument("--at-once", type=int, default=1, help="so many runs side by side; the tables say so")
    parser.add_argument("--list", action="store_true", help="list stories and tools, and what is measured already")
    parser.add_argument("--table", action="store_true", help="print and write what is measured already; make no runs")
    parser.add_argument("--fresh", action="store_true", help="make the runs anew that are there already")
    return parser.parse_args(arguments)


def chosen(names, known, what):
    unknown = [name for name in names if not any(one.name.startswith(name) for one in known)]
    if unknown:
        raise Failure(f"there is no {what} {unknown[0]}", "", f"there is: {' '.join(one.name for one in known)}")
    exact = {one.name for one in known} & set(names)
    return [one for one in known if not names or one.name in exact
            or any(one.name.startswith(name) for name in names if name not in exact)]


def wanted_runs(story, tool, asked):
    if story.kind == "never":
        return 0 if tool.name == "limit" else 1
    if story.kind == "out" and tool.name in ("limit", "kubectl-ssa"):  # nothing to take out; `kubectl delete` is one
        return 0
    most = story.runs if tool.name == "fairlead" else tool.runs
    return most if asked is None else (asked if tool.name == "fairlead" else min(asked, tool.runs))


def pending(known, tools, results, asked, wanted=wanted_runs):
    """(story, tool) of the runs to make: round by round, so that a slow hour of the machine hits all tools alike."""
    counts = {(story.name, tool.name): len(results.of(story, tool)) for story in known for tool in tools}
    most = max((wanted(story, tool, asked) for story in known for tool in tools), default=0)
    for number in range(most):
        for story in known:
            for tool in tools:
                if counts[story.name, tool.name] <= number < wanted(story, tool, asked):
                    yield story, tool


def work(todo, results, at_once, numbers, run):
    """The runs with these numbers. An own failure is no result: it is tried once more, and else left out."""
    for number in itertools.takewhile(lambda number: number < len(todo), numbers):
        story, tool = todo[number]
        for _ in range(ATTEMPTS_OF_THE_HARNESS):
            try:
                row = results.add(story, tool, {**run(story, tool), "at_once": at_once})
                one = Summary(story, tool, [row])
                say(f"[{number + 1}/{len(todo)}] {story.name}, {tool.name}: {tables.cell(one)}  {one.words}")
                break
            except Failure as failure:
                say(f"[{number + 1}/{len(todo)}] {story.name}, {tool.name}: could not be measured\n{failure.text}")


def run_all(todo, results, at_once, run):
    if at_once == 1:
        return work(todo, results, at_once, itertools.count(), run)
    taken: Any = multiprocessing.Value("i", 0)

    def next_number():
        with taken:
            taken.value += 1
            return taken.value - 1

    def worker():
        try:
            work(todo, results, at_once, iter(next_number, None), run)
        except KeyboardInterrupt:  # its cluster is down by now
            sys.exit(130)
    workers = [multiprocessing.get_context("fork").Process(target=worker) for _ in range(at_once)]
    for one in workers:
        one.start()
    try:
        for one in workers:
            one.join()
    except KeyboardInterrupt:
        for one in workers:
            if one.is_alive():
                os.kill(one.pid, signal.SIGINT)
        for one in workers:
            one.join()
        raise
    finally:
        results.rows = results.read()


class Test:
    """A test with a table of its own: its stories and tools, how many runs each needs, and what is made of the results."""

    def __init__(self, known, tools, name, wanted, run, judged, document):
        self.known, self.tools, self.name = known, tools, name
        self.wanted, self.run, self.judged, self.document = wanted, run, judged, document


def plain():
    return Test(stories(), TOOLS, builds.default_release().name, wanted_runs, running.run, goals.judged, tables.document)


def of_the_gate():
    return Test(gate.gate_stories(), gate.ARMS, "gate", gate.wanted_runs, gate.run, gate.judged, gate_page.document)


def publish(test, known, tools, results):
    """The table of everything measured, whatever was asked for now. Whether all goals hold of what was asked for."""
    summaries = {(story.name, tool.name): Summary(story, tool, results.shown(story, tool))
                 for story in test.known for tool in test.tools}
    if not any(summaries.values()):
        say("nothing is measured yet")
        return True
    page = ROOT / "docs" / f"acid-{test.name}"
    pathlib.Path(f"{page}.md").write_text(test.document(test.known, test.tools, summaries,
                                                        test.judged(test.known, test.tools, summaries)))
    pathlib.Path(f"{page}.svg").write_text(timelines.drawn(test.known, test.tools, summaries))
    print(tables.aligned(tables.overview(known, tools, summaries)))
    verdicts = test.judged(known, tools, summaries)
    print("\n" + tables.aligned([["goal", "holds", "measured"], *map(list, verdicts)]))
    counts = {word: sum(holds == word for _, holds, _ in verdicts) for word in ("yes", "NO", "not yet")}
    word = "FAIL" if counts["NO"] else "PASS so far" if counts["not yet"] else "PASS"
    print(f"\n{word}: {counts['yes']} of {len(verdicts)} goals hold, {counts['not yet']} have runs missing")
    return counts["NO"] == 0


def show_list(test, known, tools, results):
    for story in known:
        counts = [f"{tool.name} {len(results.of(story, tool))}/{test.wanted(story, tool, None)}" for tool in tools]
        print(f"{story.name}: {story.title}\n    {'  '.join(counts)}")


def main(arguments):
    asked = parsed(arguments)
    os.environ["FAIRLEAD_KUBERNETES"] = builds.Release(asked.kubernetes).name
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    test = of_the_gate() if asked.gate else plain()
    known = chosen(asked.story, test.known, "story")
    tools = chosen([name for name in asked.tools.split(",") if name], test.tools, "tool")
    results = Results(CACHE / f"results-{'gate-' if asked.gate else ''}{builds.default_release().name}.jsonl")
    if asked.list:
        show_list(test, known, tools, results)
        return 0
    if not asked.table:
        if asked.fresh:
            for story in known:
                for tool in tools:
                    results.forget(story, tool)
        try:
            there = [tool for tool in tools if tool.there()]
            run_all(list(pending(known, there, results, asked.runs, test.wanted)), results, asked.at_once, test.run)
        except KeyboardInterrupt:
            say("interrupted; what was measured is kept")
            return 130
    return 0 if publish(test, known, tools, results) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        say(failure.text)
        sys.exit(1)
