"""The page of --timeline and `fairlead timeline`, in a real browser: what it shows against the journal, and how it is used."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from tests.timeline import journals
from tests.timeline.browser import Browser

FAIRLEAD = os.environ["FAIRLEAD"]

BUNDLE = """
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {colour: blue}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, namespace: shop}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  serviceAccountName: web
  containers: [{name: web, image: web, envFrom: [{configMapRef: {name: settings}}]}]
"""
OBJECTS = {"Namespace shop", "ConfigMap shop/settings", "ServiceAccount shop/web", "Pod shop/web"}
HOSTILE = "</script><script>window.owned=1</script><img src=x onerror=window.owned=1>"


def fairlead(*arguments, **more):
    return subprocess.run([FAIRLEAD, *arguments], capture_output=True, text=True, timeout=60, **more)


def page_of(folder, journal, name="run"):
    path = pathlib.Path(folder) / f"{name}.jsonl"
    path.write_text(journal)
    result = fairlead("timeline", str(path))
    assert result.returncode == 0, result.stderr
    return path.with_suffix(".html")


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.browser = cls.enterClassContext(Browser())
        cls.journal, cls.page = cls.folder / "real.jsonl", cls.folder / "real.html"
        cls.run_result = fairlead("sandbox", "--delay", "pod-ready=200ms", "--", FAIRLEAD, "apply", "-f", "-", "--name", "shop",
                                  "--journal", str(cls.journal), "--timeline", str(cls.page), input=BUNDLE)
        cls.events = [json.loads(line) for line in cls.journal.read_text().splitlines()]

    def open(self, page):
        self.browser.resize(1280, 800)
        self.addCleanup(self.assert_quiet, page)
        return self.browser.open(page)

    def assert_quiet(self, page):
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [f"file://{page}"])

    def rows(self):
        return self.browser.texts(".row .what")

    def chosen(self):
        return self.browser.texts('.row[aria-selected="true"] .what')

    def test_the_page_of_the_run_is_that_of_its_journal(self):
        self.assertEqual(self.run_result.returncode, 0, self.run_result.stderr)
        later = self.folder / "later.html"
        result = fairlead("timeline", str(self.journal), "-o", str(later))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, f"{later} written: 4 objects\n", ""))
        self.assertEqual(later.read_bytes(), self.page.read_bytes())
        for file in (later, self.page):
            self.assertEqual(file.stat().st_mode & 0o777, 0o600)

    def test_every_object_is_drawn_with_its_times(self):
        browser = self.open(self.page)
        self.assertEqual(set(self.rows()), OBJECTS)
        self.assertEqual(browser.text("#title"), "fairlead apply shop")
        self.assertEqual(browser.text("#outcome"), "done")
        end = max(event["seconds"] for event in self.events)
        ready = {event["object"]["kind"]: event["seconds"] for event in self.events if event["event"] == "ready"}
        self.assertEqual(set(ready), {"Namespace", "ConfigMap", "ServiceAccount", "Pod"})
        drawn = browser.run("""[...document.querySelectorAll(".row")].map((row) => [
            row.querySelector(".kind").textContent.trim(), parseFloat(row.querySelector(".end").style.left)])""")
        for kind, left in drawn:
            self.assertAlmostEqual(left, 100 * ready[kind] / end, places=1)

    def test_a_click_shows_what_the_journal_says_of_an_object(self):
        browser = self.open(self.page)
        index = browser.run("""[...document.querySelectorAll(".row")].find((row) => row.textContent.includes("Pod ")).id""")
        browser.click(f"#{index} .what")
        self.assertEqual(browser.text("aside h2"), "Pod shop/web")
        words = [event["event"] for event in self.events if event.get("object", {}).get("kind") == "Pod"]
        self.assertEqual([text.split(":")[0] for text in browser.texts("aside .event b")], words)
        graph = next(event["details"] for event in self.events if event["event"] == "graph")
        pod = [key[1] for key in graph["objects"]].index("Pod")
        targets = {" ".join([graph["objects"][target][1], "/".join(filter(None, graph["objects"][target][2:4]))])
                   for node, target, _, _ in graph["needs"] if node == pod}
        self.assertEqual(targets, OBJECTS - {"Pod shop/web"})
        needed = browser.run("""[...document.querySelectorAll("aside h3")].find((head) => head.textContent.startsWith("Needs ("))
            .nextElementSibling.querySelectorAll("button").length""")
        self.assertEqual(needed, len([need for need in graph["needs"] if need[0] == pod]))
        browser.click("aside .need button")
        self.assertIn(browser.text("aside h2"), targets)

    def test_search_and_filters(self):
        browser = self.open(self.page)
        browser.key("/", *"config")
        self.assertEqual(self.rows(), ["ConfigMap shop/settings"])
        self.assertEqual(browser.text("#count"), "1 of 4 rows")
        browser.key("Escape")
        self.assertEqual(set(self.rows()), OBJECTS)
        browser.choose("#kind", "Pod")
        self.assertEqual(self.rows(), ["Pod shop/web"])
        browser.choose("#kind", "")
        browser.choose("#namespace", "shop")
        self.assertEqual(set(self.rows()), OBJECTS - {"Namespace shop"})
        browser.choose("#state", "ready")
        self.assertEqual(browser.text("#count"), "3 of 4 rows")
        browser.choose("#namespace", "")
        browser.key("/", *"nothing like it")
        self.assertEqual(self.rows(), [])
        self.assertFalse(browser.run("document.getElementById('nothing').hidden"))

    def test_the_keyboard_is_enough(self):
        browser = self.open(self.page)
        rows = self.rows()
        browser.key("ArrowDown")
        self.assertEqual(self.chosen(), rows[:1])
        browser.key("ArrowDown", "ArrowDown", "ArrowUp")
        self.assertEqual(self.chosen(), rows[1:2])
        self.assertEqual(browser.run("document.getElementById('grid').getAttribute('aria-activedescendant')"),
                         browser.run("document.querySelector('[aria-selected=\"true\"].row').id"))
        browser.key("End")
        self.assertEqual(self.chosen(), rows[-1:])
        browser.key("Enter")
        self.assertEqual(browser.run("document.activeElement.id"), "details")
        browser.key("Escape")
        self.assertEqual((self.chosen(), browser.run("document.activeElement.id")), ([], "grid"))
        browser.key("c")
        path = next(event["details"]["criticalPath"] for event in self.events if event["event"] == "ended")
        self.assertEqual(set(self.rows()), {step["what"] for step in path})
        browser.key("Escape", "+")
        self.assertIn("0 shows all", browser.text("#zoom"))
        browser.key("0")
        self.assertEqual(browser.text("#zoom"), "")

    def test_the_graph_has_the_needs_of_the_journal(self):
        browser = self.open(self.page)
        browser.key("g")
        self.assertEqual(len(browser.texts("#canvas .node")), 4)
        graph = next(event["details"] for event in self.events if event["event"] == "graph")
        self.assertEqual(len(browser.texts("#canvas .edge")), len({(need[0], need[1]) for need in graph["needs"]}))
        browser.click('#canvas .node[aria-label="ConfigMap shop/settings"]')
        self.assertEqual(browser.text("aside h2"), "ConfigMap shop/settings")
        self.assertIn("What ConfigMap shop/settings needs", browser.text("#graph-caption"))

    def test_light_and_dark(self):
        browser = self.open(self.page)
        colour = "getComputedStyle(document.body).backgroundColor"
        light = browser.run(colour)
        browser.click("#theme")
        dark = browser.run(colour)
        self.assertNotEqual(light, dark)
        browser.open(self.page)
        browser.prefer("dark")
        self.assertEqual(browser.run(colour), dark)
        browser.click("#theme")
        self.assertEqual(browser.run(colour), light)
        browser.prefer("light")

    def test_a_large_run_draws_what_is_seen(self):
        browser = self.open(page_of(self.folder, journals.rollout(5000), "large"))
        self.assertLess(len(self.rows()), 100)
        self.assertEqual(browser.text("#count"), "5,001 rows")
        browser.key("End")
        self.assertEqual(browser.run("""document.querySelector('.row[aria-selected="true"]').getAttribute("aria-rowindex")"""), "5001")
        browser.key("g")
        self.assertLess(len(browser.texts("#canvas .node")), 60)
        browser.key("Escape", "g", "/", *"deployment-00102")
        self.assertEqual(len(self.rows()), 1)

    def test_a_narrow_window_hides_nothing_at_its_side(self):
        browser = self.open(self.page)
        browser.resize(380, 700)
        self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), 380)

    def test_names_and_texts_stay_text(self):
        journal = [{"event": "started", "seconds": 0, "details": {"bundle": HOSTILE, "command": HOSTILE}},
                   {"event": "failed", "seconds": 1, "object": {"group": HOSTILE, "kind": HOSTILE, "namespace": HOSTILE, "name": HOSTILE,
                                                                "source": HOSTILE}, "state": HOSTILE, "text": HOSTILE},
                   {"event": "guard", "seconds": 1, "state": HOSTILE, "text": HOSTILE, "details": {"guard": HOSTILE}},
                   {"event": "warning", "seconds": 1, "text": HOSTILE},
                   {"event": "ended", "seconds": 2, "state": HOSTILE, "details": {
                       "errors": [{"what": HOSTILE, "because": [HOSTILE], "from": HOSTILE, "next": HOSTILE, "blocks": [HOSTILE]}]}}]
        browser = self.open(page_of(self.folder, "".join(json.dumps(line) + "\n" for line in journal), "hostile"))
        browser.key("ArrowDown", "g", "g", "ArrowDown")
        self.assertIsNone(browser.run("window.owned"))
        self.assertEqual(browser.run("document.images.length"), 0)
        self.assertIn(HOSTILE, browser.text("aside h2"))
        self.assertIn(HOSTILE, browser.text("#notices"))

    def test_no_other_script_runs(self):
        page = self.folder / "more.html"
        page.write_text(self.page.read_text().replace("</body>", "<script>window.owned=1</script></body>"))
        self.browser.open(page)
        self.assertIsNone(self.browser.run("window.owned"))
        self.assertIn("Content Security Policy", self.browser.complaints()[0]["entry"]["text"])
        self.browser.events.clear()

    def test_a_run_that_was_killed_is_shown_as_far_as_it_came(self):
        path = self.folder / "killed.jsonl"
        path.write_text(journals.rollout(12)[:-400])
        result = fairlead("timeline", str(path))
        remarks = ["The last line of the journal is not complete, and was left out.",
                   "The journal has no end: the run was killed, or was still going on. This is what was written until then."]
        self.assertEqual((result.returncode, result.stderr), (0, "".join(f"warning: {text}\n" for text in remarks)))
        browser = self.open(path.with_suffix(".html"))
        self.assertEqual(browser.texts(".notice"), remarks)
        self.assertEqual(browser.text("#outcome"), "not ended")
        self.assertEqual(len(self.rows()), 13)


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_what_is_no_journal_is_an_error(self):
        path = self.folder / "pod.yaml"
        path.write_text("apiVersion: v1\nkind: Pod\n")
        result = fairlead("timeline", str(path))
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"error: {path} is not a journal of Fairlead\n  because   line 1 is no event: ", result.stderr)
        self.assertEqual(list(self.folder.iterdir()), [path])
        result = fairlead("timeline", str(self.folder / "none.jsonl"))
        self.assertEqual((result.returncode, result.stderr), (1, f"error: the journal {self.folder}/none.jsonl cannot be read\n"
                                                                 "  because   No such file or directory\n"))

    def test_the_page_never_replaces_the_journal(self):
        path = self.folder / "run.html"
        path.write_text(journals.rollout(12))
        result = fairlead("timeline", str(path))
        self.assertEqual((result.returncode, result.stderr), (1, f"error: the page would replace the journal {path}\n"
                                                                 f"  next      fairlead timeline {path} -o FILE.html\n"))
        result = fairlead("apply", "-f", "-", "--journal", "same", "--timeline", "same", input="{}")
        self.assertEqual((result.returncode, result.stderr), (1, "error: --journal and --timeline both name the file same\n"
                                                                 "  next      give each a file of its own\n"))

    def test_standard_input_and_output(self):
        result = fairlead("timeline", "-", input=journals.rollout(12))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith("<!doctype html>"))
        self.assertTrue(result.stdout.endswith("</html>\n"))

    def test_a_file_that_cannot_be_written_is_known_before_the_run(self):
        result = fairlead("sandbox", "--", FAIRLEAD, "apply", "-f", "-", "--timeline", str(self.folder / "none/page.html"), input=BUNDLE)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn(f"error: the timeline {self.folder}/none/page.html cannot be written\n  because   its folder: ", result.stderr)

    def test_deletion_has_a_timeline(self):
        path = self.folder / "delete.html"
        script = f'"$0" apply -f - --name shop -o quiet && "$0" delete --name shop -y --timeline {path}'
        result = fairlead("sandbox", "--", "sh", "-c", script, FAIRLEAD, input=BUNDLE)
        self.assertEqual(result.returncode, 0, result.stderr)
        with Browser() as browser:
            browser.open(path)
            self.assertEqual(browser.text("#title"), "fairlead delete shop")
            self.assertEqual(browser.text("#outcome"), "done")
            self.assertLessEqual(OBJECTS, set(browser.texts(".row .what")))
            states = browser.run("""[...document.querySelectorAll(".row")].map((row) => row.getAttribute("aria-label").split(": ")[1])""")
            self.assertEqual(set(states), {"deleted"})
            self.assertEqual(browser.complaints(), [])


if __name__ == "__main__":
    unittest.main()
