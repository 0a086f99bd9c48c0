"""CONTRIBUTING.md: every file that the table "Where to change what" names exists."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADING = "## Where to change what"
LEAST_ROWS = 20


def rows():
    """The rows of the table as pairs of cells, without its head."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = text.split(f"\n{HEADING}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines[2:]]


def paths(cell):
    return re.findall(r"`([^`]+)`", cell)


class WhereToChangeWhat(unittest.TestCase):
    def test_there_are_enough_rows(self):
        self.assertGreaterEqual(len(rows()), LEAST_ROWS)

    def test_each_row_names_one_to_three_files(self):
        for row in rows():
            with self.subTest(row=row):
                self.assertEqual(len(row), 2)
                self.assertIn(len(paths(row[1])), range(1, 4))

    def test_every_file_exists(self):
        for change, files in rows():
            for path in paths(files):
                with self.subTest(change=change, path=path):
                    self.assertTrue((ROOT / path).exists(), f"{path} does not exist")

    def test_no_change_is_listed_twice(self):
        changes = [row[0] for row in rows()]
        self.assertEqual(sorted(set(changes)), sorted(changes))


unittest.main()
