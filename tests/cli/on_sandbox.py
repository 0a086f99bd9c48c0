"""A sandbox for a test of the binary. Every caller gets a process of its own."""
import contextlib
import os
import pathlib
import subprocess
import tempfile
import unittest

FAIRLEAD = os.environ["FAIRLEAD"]


@contextlib.contextmanager
def sandbox(kubeconfig, *arguments):
    """Serves while the context lasts. The file `kubeconfig` leads to it."""
    command = [FAIRLEAD, "sandbox", "--kubeconfig-file", str(kubeconfig), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            first = process.stdout.readline()
            if not first.startswith("sandbox at"):
                raise AssertionError(f"the sandbox does not start: {first}")
            yield process
        finally:
            process.terminate()
            process.wait(timeout=60)


class WithFairlead(unittest.TestCase):
    """Runs the binary in a folder, with an environment; those below say which."""
    maxDiff = None
    folder: pathlib.Path
    env: dict[str, str]

    def fairlead(self, *arguments, code=0, stdin=""):
        result = subprocess.run([FAIRLEAD, *arguments], input=stdin, capture_output=True, text=True, timeout=60, env=self.env,
                                cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result


def begin(enter):
    """A folder with a sandbox whose kubeconfig is in it, and the environment for it."""
    folder = pathlib.Path(enter(tempfile.TemporaryDirectory()))
    kubeconfig = folder / "kubeconfig"
    enter(sandbox(kubeconfig))
    return folder, {**os.environ, "KUBECONFIG": str(kubeconfig)}


class OnSandbox(WithFairlead):
    """Each test has a folder and a sandbox of its own."""

    def setUp(self):
        self.folder, self.env = begin(self.enterContext)


class OnSharedSandbox(WithFairlead):
    """The tests of a class share a folder and a sandbox."""

    @classmethod
    def setUpClass(cls):
        cls.folder, cls.env = begin(cls.enterClassContext)
