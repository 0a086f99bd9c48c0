"""Where things lie, how this tool speaks, and the errors it ends with."""
import contextlib
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(
    os.environ.get("FAIRLEAD_CACHE")
    or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "fairlead").absolute()

# An ordinary user's PATH has no sbin, where ip, nft and runc are.
os.environ["PATH"] += ":/usr/local/sbin:/usr/sbin:/sbin"


COMMAND = "./dev cluster"  # as people call it, from the root of the work tree


class Failure(Exception):
    """What went wrong, why, and what to do next; main() prints it and exits with 1."""

    def __init__(self, what, because="", next_step=""):
        super().__init__(what)
        self.text = "\n".join(
            [f"error: {what}"]
            + [f"  because   {line}" for line in because.splitlines() if line.strip()]
            + [f"  next      {line}" for line in next_step.splitlines()])


def say(text):
    """Progress is for people: it goes to stderr, so that stdout holds only what a script asked for."""
    print(text, file=sys.stderr, flush=True)


def pinned_version(folder, module):
    """The version of `module` that folder/go.mod requires: the only place where it is written down."""
    return re.search(rf"\b{re.escape(module)} (v\S+)", (HERE / folder / "go.mod").read_text()).group(1)


def run(argv, what, **options):
    """Run to the end and return stdout; on failure, a Failure that ends with the command's own last words."""
    done = subprocess.run([str(word) for word in argv], stdin=options.pop("stdin", subprocess.DEVNULL),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode:
        last_words = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
        raise Failure(f"{what} failed ({argv[0]} ended with {done.returncode})", last_words)
    return done.stdout


def become_root(why):
    """Start this same command again under sudo, unless it already runs as root."""
    if os.geteuid() == 0:
        return
    say(f"{why} needs root: asking sudo")
    kept = [f"{key}={os.environ[key]}" for key in ("PATH", "PYTHONPATH", "FAIRLEAD_CLUSTER", "FAIRLEAD_KUBERNETES") if key in os.environ]
    try:
        os.execvp("sudo", ["sudo", "--", "env", f"FAIRLEAD_CACHE={CACHE}", *kept, sys.executable, *sys.orig_argv[1:]])
    except FileNotFoundError:
        raise Failure(f"{why} needs root", "this is an ordinary user, and there is no sudo",
                      "run the command again as root") from None


def give_to_caller():
    """Under sudo, hand what root has made in the cache to the user who asked for it; not the files of the pods."""
    owner = os.environ.get("SUDO_UID")
    if owner is None:
        return
    for root, folders, files in os.walk(CACHE):
        if "node" in folders:
            folders.remove("node")
        for entry in [root, *(os.path.join(root, name) for name in files)]:
            with contextlib.suppress(FileNotFoundError):  # another cluster may be going down
                os.lchown(entry, int(owner), int(os.environ.get("SUDO_GID", owner)))
