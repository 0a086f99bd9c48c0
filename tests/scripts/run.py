"""Runs request scripts against an API server and compares its answers with the recorded ones, or records them."""
import argparse
import concurrent.futures
import difflib
import os
import pathlib
import random
import string
import sys
import time
import traceback

from tests.scripts.normal import Normal
from tests.scripts.script import Mistake, Script, answer_lines
from tests.scripts.server import Server, Unreachable
from tests.scripts.session import Session

HERE = pathlib.Path(__file__).resolve().parent
RECORDED_FROM = "1.37"


def run(script, server, record):
    """What differs, as text; nothing if all is as expected."""
    identity = "".join(random.choices(string.ascii_lowercase, k=6))
    session = Session(server, identity, Normal(script, server.user()))
    answers, differences = [], []
    try:
        session.begin()
        for step in script.steps:
            try:
                answer = session.perform(step)
            except Mistake as mistake:
                raise Mistake(f"line {step.line}: {mistake}") from mistake
            answers.append(answer)
            if answer is None or record:
                continue
            lines, expected = answer_lines(answer), script.expected(step)
            if lines != expected:
                changes = list(difflib.unified_diff(expected, lines, lineterm="", n=2))[2:]
                differences += [f"line {step.line}: {step.verb} {step.argument}", *("    " + line for line in changes)]
    finally:
        session.end()
    if record:
        script.write(answers)
    return differences


def attempt(script, server, record):
    try:
        return run(script, server, record)
    except (Mistake, Unreachable) as error:
        return [str(error)]
    except Exception:
        return [traceback.format_exc()]


def in_order(path):
    """Those that wait for a namespace to go come first: a server removes namespaces one after another, and every script
    leaves one."""
    return path.parent.name != "namespaces", path


def wait_for_earlier_runs(server):
    """Until few of the namespaces that an earlier run has left are still on their way out."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        _, answer = server.json("GET", "/api/v1/namespaces")
        if sum("deletionTimestamp" in one["metadata"] for one in answer["items"]) <= 20:
            return
        time.sleep(1)


def known_to_differ(version):
    """The scripts that an older server answers otherwise than the one that they were recorded from."""
    path = HERE / "versions" / f"{version}.txt"
    return path, set(path.read_text().split()) if path.exists() else set()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="scripts whose path contains one of these; all of them otherwise")
    parser.add_argument("--kubeconfig", default=os.environ.get("KUBECONFIG"), help="$KUBECONFIG unless given")
    parser.add_argument("--record", action="store_true", help="write the answers into the scripts (real servers only)")
    parser.add_argument("--note-differences", action="store_true",
                        help="write down which scripts this server, of another version, answers otherwise")
    parser.add_argument("--jobs", type=int, default=4, help="scripts that run at the same time")
    wanted = parser.parse_args()
    if not wanted.kubeconfig:
        parser.error("which server? Give --kubeconfig, or set KUBECONFIG")
    scripts = [Script(path) for path in sorted(HERE.glob("**/*.script"), key=in_order)
               if not wanted.names or any(name in str(path.relative_to(HERE)) for name in wanted.names)]
    server = Server(wanted.kubeconfig)
    if wanted.record and server.is_sandbox():
        sys.exit("tests.scripts.run: answers are recorded from a real server only, and this is the sandbox")
    version = server.version()
    expected_to_differ, differing = set(), set()
    if version != RECORDED_FROM and not wanted.record:
        list_of_differing, expected_to_differ = known_to_differ(version)
    wait_for_earlier_runs(server)
    failed = 0
    together, alone = ([script for script in scripts if script.alone is one] for one in (False, True))
    for some, jobs in ((together, wanted.jobs), (alone, 1)):
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            results = pool.map(lambda script: attempt(script, server, wanted.record), some)
            for script, differences in zip(some, results):
                name = str(script.path.relative_to(HERE))
                if differences:
                    differing.add(name)
                if differences and name not in expected_to_differ:
                    failed += 1
                    print("\n".join([f"FAILED {name}", *("  " + line for line in differences)]))
                if not differences and name in expected_to_differ:
                    print(f"{name} does not differ any more, and stands in {list_of_differing.relative_to(HERE)}")
                    failed += 1
    if wanted.note_differences:
        if version == RECORDED_FROM or wanted.names:
            sys.exit(f"tests.scripts.run: --note-differences is for all scripts, on another version than {RECORDED_FROM}")
        list_of_differing.parent.mkdir(exist_ok=True)
        list_of_differing.write_text("".join(f"{name}\n" for name in sorted(differing)))
    if expected_to_differ:
        print(f"{len(differing & expected_to_differ)} scripts differ on Kubernetes {version}, as is known")
    print(f"{len(scripts) - failed} of {len(scripts)} scripts passed, {failed} failed")
    sys.exit(1 if failed or not scripts else 0)


if __name__ == "__main__":
    main()
