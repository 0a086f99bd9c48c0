"""The parts of the acid test that need no cluster."""
import json
import pathlib
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree

from acid import attempt, audit, bundles, gate, gate_page, goals, main, running, stories_never, tables, timelines
from acid.results import Results
from acid.story import Story
from acid.summary import Summary
from acid.tools import TOOLS

FAIRLEAD, LIMIT, KUBECTL = TOOLS[:3]


class Made(Story):
    def __init__(self, name, kind="in"):
        self.name, self.title, self.kind, self.runs = name, f"the story {name}", kind, 2


def row(ok=True, seconds=4.0, **further):
    return {"ok": ok, "seconds": seconds if ok else None, "at": 1.8e9, "unvalidated": 0, "requests": 50, "objects": 10,
            "kinds": 5, "tool_seconds": 4.5, "peak_mib": 12.4, "words": "" if ok else "error: it | did not", "hung": False, **further}


def summaries(story, **rows):
    return {(story.name, tool.name): Summary(story, tool, [{"tool_version": "one", **one} for one in rows.get(tool.name, [])])
            for tool in TOOLS}


class Resuming(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "results.jsonl"
        self.story = Made("one")

    def left(self):
        return [tool.name for _, tool in main.pending([self.story], [FAIRLEAD, LIMIT], Results(self.path), None)]

    def test_what_is_measured_is_not_measured_again(self):
        self.assertEqual(self.left(), ["fairlead", "limit", "fairlead", "limit", "limit"])
        Results(self.path).add(self.story, FAIRLEAD, row())
        Results(self.path).add(self.story, LIMIT, row())
        self.assertEqual(self.left(), ["fairlead", "limit", "limit"])

    def test_a_line_that_was_cut_off_is_no_run(self):
        Results(self.path).add(self.story, FAIRLEAD, row())
        self.path.write_text(self.path.read_text() + '{"story": "on')
        self.assertEqual(len(Results(self.path).of(self.story, FAIRLEAD)), 1)

    def test_side_by_side_each_run_is_made_once(self):
        todo = [(Made(f"story-{number}"), FAIRLEAD) for number in range(20)]
        with unittest.mock.patch("acid.main.say"):
            main.run_all(todo, results := Results(self.path), 3, lambda story, tool: row())
        self.assertEqual(sorted(one["story"] for one in results.rows), sorted(story.name for story, _ in todo))
        self.assertEqual({one["at_once"] for one in results.rows}, {3})

    def test_runs_of_another_version_do_not_count(self):
        Results(self.path).add(self.story, FAIRLEAD, row())
        other = json.loads(self.path.read_text()) | {"tool_version": "another"}
        self.path.write_text(json.dumps(other) + "\n")
        self.assertEqual(self.left(), ["fairlead", "limit", "fairlead", "limit", "limit"])

    def test_a_new_build_is_shown_once_it_has_as_many_runs(self):
        results = Results(self.path)
        for _ in range(2):
            results.add(self.story, FAIRLEAD, row())
        first = results.rows[0]["tool_version"]
        for shown in (first, "another"):
            results.rows.append(results.rows[0] | {"tool_version": "another", "at": results.rows[-1]["at"] + 1})
            self.assertEqual([one["tool_version"] for one in results.shown(self.story, FAIRLEAD)], [shown] * 2)

    def test_forgotten_runs_are_made_anew(self):
        results = Results(self.path)
        results.add(self.story, FAIRLEAD, row())
        results.add(self.story, LIMIT, row())
        results.forget(self.story, FAIRLEAD)
        self.assertEqual(self.left(), ["fairlead", "fairlead", "limit", "limit"])


class Tables(unittest.TestCase):
    def test_a_cell(self):
        story = Made("one")
        for rows, expected in (([row(), row(seconds=5.0)], "2/2, 4.5 s"), ([row(ok=False)], "0/1"),
                               ([row(ok=False, unvalidated=5)], "0/1, 5 unvalidated"), ([], ""),
                               ([row(), row(ok=False, hung=True)], "1/2, 4.0 s"), ([row(ok=False, hung=True)], "0/1, hung")):
            self.assertEqual(tables.cell(Summary(story, KUBECTL, rows)), expected)

    def test_the_document_has_what_was_measured(self):
        story = Made("one")
        known = summaries(story, fairlead=[row()], kubectl=[row(ok=False)])
        text = tables.document([story], TOOLS, known, goals.judged([story], TOOLS, known))
        self.assertIn("| one | **1/1, 4.0 s** | 0/1 |", text)
        self.assertIn("| fairlead apply | 1 of 1 | 0 | 4.0 (4.0) | 50 | 12 |  |", text)
        self.assertIn("| kubectl apply | 0 of 1 | 0 | – | 50 | 12 | `error: it \\| did not` |", text)
        self.assertIn("| one: 2 of 2 first attempts | not yet | 1 of 1 |", text)

    def test_where_the_files_were_is_not_told(self):
        arena = unittest.mock.Mock(folder=pathlib.Path("/somewhere/run-7"))
        self.assertEqual(running.said_of(arena, 'error in "/somewhere/run-7/bundle.yaml"'), 'error in "bundle.yaml"')

    def test_several_builds_are_named(self):
        first, second = Made("first"), Made("second")
        known = {**summaries(first, fairlead=[row()]), **summaries(second, fairlead=[row(tool_version="two")])}
        known |= summaries(Made("third"), fairlead=[row()])
        self.assertEqual(tables.identities(FAIRLEAD, [first, second, Made("third")], known), ["one", "two (second)"])

    def test_what_is_left_over_is_shown(self):
        story = Made("one", "out")
        left = row(ok=False, left=["namespaces one"], left_count=1, errors=2)
        self.assertEqual(tables.cell(Summary(story, KUBECTL, [left])), "0/1, 1 left")
        self.assertIn("| 2 | namespaces one |", tables.detail(story, [KUBECTL], summaries(story, kubectl=[left])))


class Goals(unittest.TestCase):
    def verdicts(self, story, **rows):
        return {goal: holds for goal, holds, _ in goals.judged([story], TOOLS, summaries(story, **rows))}

    def test_all_hold(self):
        found = self.verdicts(Made("one"), fairlead=[row(), row()], limit=[row(seconds=3.6)], kapp=[row(seconds=4.1)])
        self.assertEqual(found, {"one: 2 of 2 first attempts": "yes", "one: nothing stored unvalidated": "yes",
                                 "one: at most 85 requests": "yes", "one: as early as the limit": "yes",
                                 "one: not slower than kapp": "yes"})

    def test_each_can_fail(self):
        bad = row(requests=86, unvalidated=1)
        found = self.verdicts(Made("one"), fairlead=[bad, row(ok=False)], limit=[row(seconds=3.4)], kapp=[row(seconds=3.9)])
        self.assertEqual(set(found.values()), {"NO"})

    def test_a_peer_with_fewer_requests_is_told(self):
        story = Made("one")
        known = summaries(story, fairlead=[row()], kapp=[row(requests=40)], helm4=[row(ok=False, requests=3)])
        rows = goals.judged([story], TOOLS, known)
        self.assertIn(("one: at most 85 requests", "yes", "50, kapp succeeds with 40"), rows)

    def test_the_root_cause(self):
        story = Made("never-image", "never")
        late = row(seconds=9.0, evident=1.0, hung=False, holds=False)
        self.assertEqual(set(self.verdicts(story, fairlead=[late]).values()), {"NO"})
        soon = row(seconds=1.5, evident=1.0, hung=True, holds=True)
        self.assertEqual(set(self.verdicts(story, fairlead=[soon]).values()), {"yes"})


class Picture(unittest.TestCase):
    def test_it_is_well_formed_and_shows_every_tool(self):
        story = Made("a & b")
        known = summaries(story, fairlead=[row()], limit=[row()], kubectl=[row(ok=False)],
                          kapp=[row(ok=False, hung=True, tool_seconds=None)])
        texts = [one.text for one in xml.etree.ElementTree.fromstring(timelines.drawn([story], TOOLS, known)).iter()]
        for expected in ("a & b", "fairlead", "4.0 s", "fails", "hung …"):
            self.assertIn(expected, texts)


class OfTheGate(unittest.TestCase):
    KUBECTL, BARE = gate.ARMS[:2]

    def summaries(self, story, **rows):
        return {(story.name, arm.name): Summary(story, arm, [{"tool_version": "v1 with build abc", **one} for one in rows.get(arm.name, [])])
                for arm in gate.ARMS}

    def test_each_tool_is_there_with_and_without_it(self):
        names = [arm.name for arm in gate.ARMS]
        self.assertEqual(names[:4], ["kubectl+gate", "kubectl", "kubectl-ssa+gate", "kubectl-ssa"])
        self.assertEqual(len(names), 2 * (len(TOOLS) - 2))

    def test_its_stories_are_known(self):
        with unittest.mock.patch("acid.gate.stories", lambda: [Made(name) for name in reversed(gate.NAMES)]):
            self.assertEqual([story.name for story in gate.gate_stories.__wrapped__()], list(gate.NAMES))

    def test_so_many_runs_with_it_and_one_without(self):
        wanted = {asked: [gate.wanted_runs(None, arm, asked) for arm in (self.KUBECTL, self.BARE)] for asked in (None, 0, 1, 7)}
        self.assertEqual(wanted, {None: [5, 1], 0: [0, 0], 1: [1, 1], 7: [7, 1]})

    def test_kubectl_gets_what_it_cannot_know_first(self):
        named = [("Namespace", "n"), ("CustomResourceDefinition", "widgets.a"), ("ConfigMap", "c"), ("Widget", "w")]
        story = unittest.mock.Mock()
        story.objects.return_value = [{"kind": kind, "metadata": {"name": name}} for kind, name in named]
        with tempfile.TemporaryDirectory() as text, unittest.mock.patch("acid.gate.kubectl", lambda: "kubectl"), \
                unittest.mock.patch("acid.tools.kubectl", lambda: "kubectl"):
            folder = pathlib.Path(text)
            first, wait, second = self.KUBECTL.put_in(story, folder)
            self.assertEqual(first, ["kubectl", "apply", "--server-side", "-f", folder / "first.yaml"])
            self.assertEqual(wait, ["kubectl", "wait", "--for=condition=Established", "crd/widgets.a"])
            self.assertEqual(second, ["kubectl", "apply", "-f", folder / "bundle.yaml"])
            found = {name: [kind for kind, _ in named if f'"{kind}"' in (folder / name).read_text()] for name in ("first.yaml", "bundle.yaml")}
        self.assertEqual(found, {"first.yaml": ["Namespace", "CustomResourceDefinition"], "bundle.yaml": ["ConfigMap", "Widget"]})

    def test_what_it_must_show(self):
        story = Made("one")
        all_won = self.summaries(story, **{arm.name: [row()] * 5 for arm in gate.ARMS if arm.has_gate})
        self.assertEqual(gate.judged([story], gate.ARMS, all_won), [
            ("one: every tool, 5 of 5 first attempts", "yes", "35 of 35, by 7 of 7 tools"), ("one: nothing stored unvalidated", "yes", "0")])
        some = self.summaries(story, **{"kubectl+gate": [row()], "kubectl": [row(ok=False)]})
        self.assertEqual(gate.judged([story], gate.ARMS, some)[0][1:], ("not yet", "1 of 1, by 1 of 7 tools"))
        lost = self.summaries(story, **{"kubectl+gate": [row()] * 5, "kapp+gate": [row(ok=False, unvalidated=2)]})
        self.assertEqual([one[1:] for one in gate.judged([story], gate.ARMS, lost)],
                         [("NO", "5 of 6, by 2 of 7 tools; not kapp+gate"), ("NO", "2")])
        self.assertEqual(gate.judged([story], gate.ARMS, self.summaries(story, kubectl=[row()])), [])

    def test_the_page_says_how_much_was_measured(self):
        story = Made("one")
        known = self.summaries(story, **{"kubectl+gate": [row()], "kubectl": [row(ok=False)]})
        text = gate_page.document([story], gate.ARMS, known, gate.judged([story], gate.ARMS, known))
        for expected in ("| story | kubectl+gate |", "| one | 1/1, 4.0 s |", "| story | kubectl |\n|---|---|\n| one | 0/1 |",
                         "1 of 7 cells are measured, with 1 run each", "Fairlead: build abc.",
                         "| kubectl apply, CRDs first, with the gate | 1 of 1 | 0 | 4.0 (4.0) | 50 | 12 |  |"):
            self.assertIn(expected, text)


class RootCauses(unittest.TestCase):
    def named(self, name, line):
        return next(story for story in stories_never.STORIES if story.name == name).names_the_cause(line)

    def test_they_are_recognised(self):
        for name, line in (
                ("never-orphan", 'failed to call webhook: Post "https://old-guard.old-operator.svc:443/validate?timeout=5s": '
                                 'service "old-guard" not found'),
                ("never-orphan", "  because   its Service old-operator/old-guard is neither in the cluster nor in the bundle"),
                ("never-image", "pod guard-1 is waiting: ErrImagePull (localhost/fairlead/missing:1)"),
                ("never-image", 'Pod watching: "ImagePullBackOff"'),
                ("never-ca", "failed to verify certificate: x509: certificate signed by unknown authority")):
            self.assertTrue(self.named(name, line), line)

    def test_other_troubles_are_not(self):
        for name, line in (("never-orphan", 'Post "https://old-guard.old-operator.svc:443/validate": context deadline exceeded'),
                           ("never-orphan", 'no matches for kind "Widget"'),
                           ("never-image", "Deployment guard is not ready: 0 of 1 replicas"),
                           ("never-ca", "connect: connection refused")):
            self.assertFalse(self.named(name, line), line)


class Audit(unittest.TestCase):
    def event(self, number, user="token-admin", verb="create", code=201, **reference):
        return {"auditID": str(number), "verb": verb, "user": {"username": user}, "responseStatus": {"code": code},
                "requestURI": "/apis/", "objectRef": {"apiGroup": "a", "resource": "widgets", "name": "w", **reference}}

    def test_requests_and_writes(self):
        events = [self.event(1), self.event(1, verb="watch"), self.event(2, user="admin"), self.event(3, code=500),
                  self.event(4, subresource="status"), self.event(5) | {"requestURI": "/apis/?dryRun=All"}]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "audit.log"
            path.write_text("".join(json.dumps(event) + "\n" for event in events))
            log = audit.AuditLog(path)
            self.assertEqual(log.requests(), 4)
            self.assertEqual(log.writes("a", "widgets"), ["w", "w"])

    def test_metrics(self):
        text = ('apiserver_admission_webhook_fail_open_count{name="x",type="validating"} 4\n'
                'apiserver_admission_webhook_fail_open_count{name="y",type="validating"} 1\n'
                'apiserver_admission_webhook_request_total{code="200",name="x",rejected="false"} 3\n'
                'apiserver_admission_webhook_request_total{code="600",name="x",rejected="true"} 7\n')
        self.assertEqual(audit.let_through(text, "x"), 4)
        self.assertEqual(audit.asked_and_answered(text, "x"), 3)


class Attempts(unittest.TestCase):
    def run_to_the_end(self, *commands):
        with tempfile.TemporaryDirectory() as folder, attempt.Attempt(commands, {}, folder) as one:
            one.thread.join()
        return one

    def test_it_ends_with_the_first_command_that_fails(self):
        one = self.run_to_the_end(["/bin/sh", "-c", "echo first"], ["/bin/sh", "-c", "echo error: second >&2; exit 3"],
                                  ["/bin/sh", "-c", "echo third"])
        self.assertEqual((one.code, [line.text for line in one.lines]), (3, ["first", "error: second"]))
        self.assertEqual(attempt.last_words(one.lines), "error: second")

    def test_memory_is_the_tool_s_own(self):
        ballast = bytearray(200 << 20)
        self.assertLess(self.run_to_the_end(["/bin/sh", "-c", ":"]).peak_mib, 100)
        del ballast

    def test_it_is_stopped(self):
        with tempfile.TemporaryDirectory() as folder, attempt.Attempt([["/bin/sleep", "1000"]], {}, folder) as one:
            self.assertTrue(one.running())
        self.assertFalse(one.running())
        self.assertNotEqual(one.code, 0)


class Charts(unittest.TestCase):
    def test_definitions_are_apart_and_braces_survive(self):
        objects = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "own"}},
                   {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "d"}},
                   {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"text": "{{ x }}"}}]
        with tempfile.TemporaryDirectory() as name:
            folder = bundles.chart(pathlib.Path(name) / "chart", "c", objects, "own")
            template = (folder / "templates/objects.yaml").read_text()
            self.assertEqual((folder / "crds/definitions.yaml").read_text(), bundles.documents(objects[1:2]))
            self.assertEqual(template.replace('{{ "{{" }}', "{{"), bundles.documents(objects[2:]))
            self.assertNotEqual(template, bundles.documents(objects[2:]))


if __name__ == "__main__":
    unittest.main()
