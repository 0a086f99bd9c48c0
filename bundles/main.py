"""Tries Fairlead on the manifests of public projects, and writes what came of it to docs/bundles.md."""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

from bundles import page, sources, steps
from cluster import builds
from cluster.settings import Failure, run, say

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent

FAIRLEAD = pathlib.Path(os.environ.get("FAIRLEAD", ROOT / "build/fairlead"))
CLUSTER = ROOT / "cluster/cluster"
RESULTS = sources.HOME / "results.json"
PAGE = ROOT / "docs/bundles.md"


def parsed(arguments, known):
    parser = argparse.ArgumentParser(prog="./dev bundles", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"which bundles (default: all): {' '.join(known)}")
    parser.add_argument("--real", action="store_true", help="on a real control plane as well as in the sandbox")
    parser.add_argument("--only-real", action="store_true", help="on a real control plane alone")
    parser.add_argument("--versions", nargs="+", metavar="TAG", help="other tags than those of the list, the older first; of one bundle")
    parser.add_argument("--mirrors", default=os.environ.get("FAIRLEAD_MIRRORS"), metavar="DIR",
                        help="take repositories from git directories DIR/OWNER/NAME (or $FAIRLEAD_MIRRORS) instead of GitHub")
    parser.add_argument("--page", action="store_true", help="write the page from what is known already; make no runs")
    wanted = parser.parse_args(arguments)
    if unknown := [name for name in wanted.name if name not in known]:
        parser.error(f"no bundle {unknown[0]}")
    if wanted.versions and len(wanted.name) != 1:
        parser.error("--versions are of one bundle")
    return wanted


@contextlib.contextmanager
def sandbox():
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = pathlib.Path(folder) / "kubeconfig"
        process = subprocess.Popen([FAIRLEAD, "sandbox", "--kubeconfig-file", kubeconfig], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        try:
            while not (kubeconfig.exists() and kubeconfig.stat().st_size):
                if process.poll() is not None:
                    raise Failure("the sandbox did not start")
                time.sleep(0.05)
            yield steps.Place("sandbox", kubeconfig, FAIRLEAD, [])
        finally:
            process.terminate()
            process.wait()


@contextlib.contextmanager
def real():
    """A control plane of its own for each bundle: what one leaves behind is not the next one's."""
    name = f"bundles-{os.getpid()}"
    run([CLUSTER, "up", "--control-plane", "--name", name, "--owner", str(os.getpid())], "starting a control plane")
    try:
        admin = run([CLUSTER, "kubeconfig", "--name", name], "finding the kubeconfig").strip()
        with tempfile.TemporaryDirectory() as folder:
            yield steps.Place("real", shutil.copy(admin, folder), FAIRLEAD, ["--no-wait"])
    finally:
        run([CLUSTER, "down", "--name", name], "ending the control plane")


def tried(bundle, wanted):
    try:
        folders, versions = zip(*(sources.manifests(bundle, version, wanted.mirrors) for version in bundle["versions"]))
    except Failure as failure:
        say(failure.text)
        return {"failure": failure.text}
    places = [] if wanted.only_real else [sandbox]
    places += [real] if wanted.real or wanted.only_real else []
    result = {}
    for place in places:
        with place() as cluster:
            result[cluster.name] = steps.tried(cluster, bundle, versions)
    # Paths as the project has them, not as they are on this machine.
    text = json.dumps({"places": result})
    for folder in folders:
        text = text.replace(f"{folder}/", "")
    return json.loads(text)


def kept():
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def keep(name, result):
    """Each place of a bundle has its last result. Runs beside this one keep theirs."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with builds.locked("bundles", "that writes its results"):
        results = kept()
        places = {**results.get(name, {}).get("places", {}), **result.pop("places", {})}
        results[name] = {**result, "places": places}
        RESULTS.write_text(json.dumps(results, indent=1))


def main(arguments):
    known = tomllib.loads((HERE / "list.toml").read_text())
    for name, bundle in known.items():
        bundle["name"] = name
    wanted = parsed(arguments, known)
    for name in [] if wanted.page else wanted.name or known:
        say(name)
        bundle = {**known[name], "versions": wanted.versions or known[name]["versions"]}
        result = tried(bundle, wanted)
        if wanted.versions:
            continue  # the page has those of the list
        keep(name, result)
    PAGE.write_text(page.page(known, kept()))
    say(f"written: {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends clusters and sandboxes on the way out
    try:
        main(sys.argv[1:])
    except Failure as error:
        sys.exit(error.text)
