"""What it costs to see a run: the page of --timeline.

./dev bench seeing [--json] [--rounds N] [--objects N]
"""
import argparse
import pathlib
import sys
import tempfile

from bench._figures import Arm, Figures, Run, interleave
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--objects", type=int, default=5000, help="of the run that the page shows")
    options = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory() as folder:
        timeline(figures, pathlib.Path(folder), options.rounds, options.objects)
    return 0 if figures.print(options.json) else 1


if __name__ == "__main__":
    sys.exit(main())
