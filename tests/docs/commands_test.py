"""The pages of docs/commands are what the help texts say now, and the man pages are well formed."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        subprocess.run([sys.executable, "-B", "-m", "scripts.command_pages", os.environ["FAIRLEAD"], "--markdown", self.folder / "markdown",
                        "--man", self.folder / "man"], check=True, cwd=ROOT)

    def test_the_pages_are_current(self):
        made = {path.name: path.read_text() for path in (self.folder / "markdown").iterdir()}
        kept = {path.name: path.read_text() for path in (ROOT / "docs/commands").iterdir()}
        self.assertEqual(sorted(made), sorted(kept), "./dev docs writes them")
        for name, text in made.items():
            self.assertEqual(text, kept[name], f"docs/commands/{name} is not current: ./dev docs writes it")

    def test_man_has_nothing_to_complain_about(self):
        pages = sorted((self.folder / "man").iterdir())
        self.assertIn("fairlead-apply.1", [page.name for page in pages])
        for page in pages:
            result = subprocess.run(["groff", "-man", "-ww", "-Tutf8", page], capture_output=True, text=True)
            self.assertEqual((result.returncode, result.stderr), (0, ""), page.name)
            self.assertTrue(result.stdout.strip(), page.name)


unittest.main()
