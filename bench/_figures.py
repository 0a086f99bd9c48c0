"""Figures of a benchmark: measured in rounds, printed as a table or as JSON lines."""
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time


class Arm:
    """One side of a comparison: its measurements, one a round."""

    def __init__(self, name, measure):
        self.name = name
        self.measure = measure
        self.values = []

    @property
    def median(self):
        return statistics.median(self.values)

    @property
    def spread(self):
        return f"{short(min(self.values))}–{short(max(self.values))}"


def interleave(arms, rounds):
    """Measures every arm once a round, so that a slow minute of the machine hits all of them alike."""
    for round_number in range(rounds):
        for arm in arms:
            arm.values.append(arm.measure(round_number))
            print(f"  round {round_number + 1}/{rounds}  {arm.name}: {short(arm.values[-1])}", file=sys.stderr)


class Figures:
    """Collects figures against their goals. `holds` is what the goal says: a ratio or a value, at least or at most."""

    def __init__(self):
        self.rows = []

    def at_least(self, name, ours, peer, goal):
        """A ratio of medians, ours to the peer's, that must not fall below the goal."""
        ratio = ours.median / peer.median
        self._add(name, ours, peer, ratio, f"ratio ≥ {goal}", ratio >= goal)

    def at_most(self, name, ours, peer, goal):
        """A ratio of medians, ours to the peer's, that must not exceed the goal."""
        ratio = ours.median / peer.median
        self._add(name, ours, peer, ratio, f"ratio ≤ {goal}", ratio <= goal)

    def ratio(self, name, ours, peer):
        """A ratio of medians without a goal."""
        self._add(name, ours, peer, ours.median / peer.median, "none", None)

    def value_at_least(self, name, ours, goal):
        self._add(name, ours, None, None, f"≥ {goal}", ours.median >= goal)

    def value_at_most(self, name, ours, goal):
        self._add(name, ours, None, None, f"≤ {goal}", ours.median <= goal)

    def _add(self, name, ours, peer, ratio, goal, holds):
        self.rows.append({"name": name, "value": ours.median, "spread": ours.spread,
                          "peer": peer.median if peer else None, "peer_spread": peer.spread if peer else None,
                          "ratio": ratio, "goal": goal, "holds": holds})

    def print(self, as_json):
        if as_json:
            for row in self.rows:
                print(json.dumps({key: row[key] for key in ("name", "value", "peer", "ratio", "goal", "holds")}))
        else:
            lines = [["figure", "value", "spread", "peer", "spread", "ratio", "goal", "holds"]]
            for row in self.rows:
                lines.append([row["name"], short(row["value"]), row["spread"], short(row["peer"]), row["peer_spread"] or "",
                              short(row["ratio"]), row["goal"], {True: "yes", False: "NO", None: ""}[row["holds"]]])
            widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
            for line in lines:
                print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        return all(row["holds"] is not False for row in self.rows)


def short(number):
    if number is None:
        return ""
    if abs(number) >= 100:
        return f"{number:.0f}"
    return f"{number:.3g}"


@contextlib.contextmanager
def running(argv, env=None, stdout=subprocess.DEVNULL, stderr=None):
    """A command, which does not outlive whoever started it: an interrupted benchmark leaves nothing behind."""
    process = subprocess.Popen(argv, stdout=stdout, stderr=stderr, env={**os.environ, **(env or {})}, text=True)
    try:
        yield process
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        if process.stdout:
            process.stdout.close()


class Run:
    """A finished command: how long it took, how much of a processor it used, and how much memory at its peak."""

    def __init__(self, argv, env=None, stdout=subprocess.DEVNULL, codes=(0,)):
        start = time.monotonic()
        # A file, which never fills up as a pipe does that nobody reads yet.
        with tempfile.TemporaryFile("w+") as complaint, running(argv, env, stdout, complaint) as process:
            self.output = process.stdout.read() if process.stdout else ""
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.seconds = time.monotonic() - start
            self.processor_seconds = usage.ru_utime + usage.ru_stime
            self.peak_mib = usage.ru_maxrss / 1024
            if process.returncode not in codes:
                complaint.seek(0)
                raise SystemExit(f"bench: {' '.join(map(str, argv))} ended with {process.returncode}:\n"
                                 f"{complaint.read()[-2000:]}")
