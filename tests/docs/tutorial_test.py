"""Runs every command of docs/tutorial.md, and compares what it prints with what the tutorial shows.

A ```yaml block whose first line is a comment with a file name is that file. A ```console block holds commands behind "$ " and what they
print. All of them run one after the other, in one shell, with a sandbox as their cluster. Times and numbers of requests may differ, and
so may the order of lines, since objects are sent side by side. A line "…" stands for lines that are left out.

python3 -m tests.docs.tutorial_test --update writes what they print into the tutorial.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "docs/tutorial.md"
FAIRLEAD = pathlib.Path(os.environ["FAIRLEAD"])
BLOCK = re.compile(r"^```(yaml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
END = "end of the command"

Command = collections.namedtuple("Command", "text shown")


def blocks():
    return [(found[1], found[2]) for found in BLOCK.finditer(TUTORIAL.read_text())]


def commands(block):
    """The commands of a block, each with the lines that follow it."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    assert parts[0] == "", f"a console block begins with a command: {block}"
    for part in parts[1:]:
        text, _, shown = part.partition("\n")
        yield Command(text, shown)


def normal(text):
    """The lines of an output, without what differs from run to run."""
    lines = []
    for line in text.splitlines():
        # How far a pod has come when somebody looks, and whether the run takes long enough for a critical path, is a matter of luck.
        if re.match(r"longest: |\S+ \S+ is not ready: ", line):
            continue
        line = re.sub(r"\b\d+(\.\d+)?(ms|s|m)\b", "TIME", line.rstrip())
        line = re.sub(r"\b\d+ requests?\b", "N requests", line)
        line = re.sub(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?", "DATE", line)
        line = re.sub(r"\b[0-9a-z.-]+@[0-9a-z.-]+(, process \d+)?\b", "WHO", line)
        lines.append(re.sub(r" {2,}", "  ", line))
    return lines


class Shell:
    """A shell in a sandbox, in a folder of its own."""

    def __init__(self, folder):
        (folder / "bin").mkdir()
        (folder / "bin/fairlead").symlink_to(FAIRLEAD)
        (folder / "work").mkdir()
        self.folder = folder / "work"
        path = f"{folder / 'bin'}:{os.environ['PATH']}"
        environment = {"PATH": path, "HOME": str(folder), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen([FAIRLEAD, "sandbox", "--", "bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, cwd=self.folder, env=environment)

    def run(self, command):
        # The command sees the exit code of the one before it.
        self.process.stdin.write(f"(exit ${{status:-0}})\n{command} </dev/null\nstatus=$?\necho '{END}'\n")
        self.process.stdin.flush()
        output = ""
        for line in self.process.stdout:
            if line.endswith(END + "\n"):
                return output + line[:-len(END) - 1]
            output += line
        raise AssertionError(f"the shell ended with: {command}\n{output}")

    def close(self):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.stdout.close()
        return self.process.wait(timeout=60)


def run_all(visit):
    """Calls visit(command, output) for every command."""
    with tempfile.TemporaryDirectory() as folder:
        shell = Shell(pathlib.Path(folder))
        for kind, block in blocks():
            if kind == "console":
                for command in commands(block):
                    visit(command, shell.run(command.text))
            elif name := re.match(r"# ([\w./-]+\.yaml)$", block.split("\n", 1)[0]):
                path = shell.folder / name[1]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block)
        return shell.close()


class Tutorial(unittest.TestCase):
    maxDiff = None

    def test_every_command_prints_what_is_shown(self):
        seen = []

        def compare(command, output):
            seen.append(command.text)
            shown, printed = normal(command.shown), normal(output)
            with self.subTest(command=command.text):
                if "…" in shown:
                    for line in shown:
                        self.assertTrue(line == "…" or line in printed, f"{line!r} is not in what it prints:\n{output}")
                else:
                    self.assertEqual(sorted(shown), sorted(printed), output)

        self.assertEqual(run_all(compare), 0)
        self.assertGreater(len(seen), 8)


def update():
    """Puts what the commands print into the tutorial. A command that shows a part, with "…", stays as it is."""
    outputs: dict[str, list[str]] = {}
    run_all(lambda command, output: outputs.setdefault(command.text, []).append(output))

    def rewrite(found):
        if found[1] != "console":
            return found[0]
        text = ""
        for command in commands(found[2]):
            output = outputs[command.text].pop(0)
            text += f"$ {command.text}\n{command.shown if '…' in command.shown.splitlines() else output}"
        return f"```console\n{text}```"

    TUTORIAL.write_text(BLOCK.sub(rewrite, TUTORIAL.read_text()))


if "--update" in sys.argv:
    update()
else:
    unittest.main()
