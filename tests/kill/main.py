"""Ends runs of Fairlead at random moments, runs them again, and looks whether everything is as it should be."""
import argparse
import collections
import concurrent.futures
import contextlib
import os
import pathlib
import random
import signal
import sys
import tempfile
import time
import traceback

from tests.kill import servers
from tests.kill.case import Case, keep_logs
from tests.scripts.webhooks import Webhooks

HERE = pathlib.Path(__file__).resolve().parent

ATTEMPTS = 5
hooks = None  # of this process


def parsed(arguments):
    parser = argparse.ArgumentParser(prog="./dev kill", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, help="how many cases (default: 100; with --seed 1)")
    parser.add_argument("--real", action="store_true", help="on a real control plane instead of the sandbox")
    parser.add_argument("--seed", type=int, help="this case only, as often as COUNT says")
    parser.add_argument("--from", type=int, dest="first", metavar="SEED", help="the seed of the first case (default: a random one)")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1), help="so many cases at a time (default: %(default)s)")
    return parser.parse_args(arguments)


def sandbox_flags(dice):
    """How long things take in this case's sandbox."""
    delays = {"crd-established": 300, "mutating-webhooks": 300, "validating-webhooks": 300, "controller": 60, "pod-ready": 300,
              "pod-listening": 300, "namespace-retry": 200, "pod-stopped": 200}
    chosen = [(name, dice.randrange(most)) for name, most in delays.items() if dice.random() < 0.5]
    return [word for name, milliseconds in chosen for word in ("--delay", f"{name}={milliseconds}ms")]


def attempt_case(seed, kubeconfig, folder, number):
    global hooks
    hooks = hooks or Webhooks()
    flags = sandbox_flags(random.Random(seed))
    with contextlib.nullcontext(kubeconfig) if kubeconfig else servers.sandbox(*flags) as config:
        case = Case(seed, config, folder, hooks, runs_pods=not kubeconfig, attempt=number)
        try:
            case.tell()
        except Exception as error:
            error.add_note(case.stage)
            raise
        if kubeconfig:
            case.clean_up()
        return case.struck


def run_case(seed, kubeconfig):
    """The signals that ended runs, and the failure if there is one."""
    for number in range(ATTEMPTS):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            try:
                if struck := attempt_case(seed, kubeconfig, folder, number):
                    return [one.name for one in struck], ""
            except Exception as error:
                words = str(error) if isinstance(error, servers.Failed) else traceback.format_exc()
                stage = ", ".join(getattr(error, "__notes__", []))
                return [], f"{stage}: {words}\n  its runs are in {keep_logs(seed, folder)}"
    return [], f"no run could be ended in {ATTEMPTS} attempts: they all were too quick"


class Tally:
    def __init__(self, count, real):
        self.count, self.real, self.began = count, real, time.monotonic()
        self.done, self.failed = 0, 0
        self.signals: collections.Counter = collections.Counter()

    def add(self, seed, signals, failure):
        self.done += 1
        self.signals.update(signals)
        if failure:
            self.failed += 1
            print(f"FAIL seed {seed}: {failure}\n  again: ./dev kill --seed {seed}{' --real' if self.real else ''}", flush=True)
        if self.done % 50 == 0 and self.done != self.count:
            print(f"{self.done} of {self.count}, {self.failed} failed, {time.monotonic() - self.began:.0f} s", flush=True)

    def end(self):
        ended = ", ".join(f"{number} by {name}" for name, number in sorted(self.signals.items()))
        print(f"{self.done - self.failed} of {self.done} cases came right on {'a real control plane' if self.real else 'the sandbox'} "
              f"in {time.monotonic() - self.began:.0f} s; runs ended: {ended or 'none'}")
        return 1 if self.failed or not self.done else 0


def main(arguments):
    # Whoever starts it in the background may have it ignore these, and Fairlead would inherit that.
    signal.signal(signal.SIGHUP, lambda *_: None)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    wanted = parsed(arguments)
    count = wanted.count or (1 if wanted.seed is not None else 100)
    first = wanted.first if wanted.first is not None else random.randrange(10**6)
    seeds = [wanted.seed] * count if wanted.seed is not None else range(first, first + count)
    print(f"{count} cases, seeds from {seeds[0]} on, {wanted.jobs} at a time", flush=True)
    with servers.control_plane() if wanted.real else contextlib.nullcontext() as kubeconfig:
        tally = Tally(count, wanted.real)
        with concurrent.futures.ProcessPoolExecutor(wanted.jobs) as pool:
            futures = {pool.submit(run_case, seed, kubeconfig): seed for seed in seeds}
            for future in concurrent.futures.as_completed(futures):
                tally.add(futures[future], *future.result())
        if wanted.real:
            servers.World(kubeconfig, None).judge_shadows()
        return tally.end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
