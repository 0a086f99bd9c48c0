"""What the live view costs: the same rollout on the sandbox with it and without it, on a terminal in both cases."""
import fcntl
import json
import os
import pathlib
import pty
import struct
import subprocess
import termios
import threading

from bench._figures import Arm, interleave

# Many, and often: two in a hundred of a short run are less than what other processes cost.
OBJECTS = 15000
ROUNDS = 11


def _on_a_terminal(argv, result):
    """Runs a command whose standard error is a terminal, which somebody reads; its standard output goes to a file."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))

    def drain():
        try:
            while os.read(terminal, 65536):
                pass
        except OSError:  # it has ended
            pass

    reader = threading.Thread(target=drain)
    reader.start()
    with open(result, "w") as output:
        code = subprocess.run(argv, stdout=output, stderr=end, env={**os.environ, "TERM": "xterm-256color"}).returncode
    os.close(end)
    reader.join()
    os.close(terminal)
    if code != 0:
        raise SystemExit(f"bench: {' '.join(map(str, argv))} ended with {code}")


def live_view(figures, fairlead, folder, rounds):
    """Seconds of a rollout, as it tells itself."""
    bundle = pathlib.Path(folder) / "live.json"
    bundle.write_text("\n---\n".join(json.dumps({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"cm-{number}", "namespace": f"team-{number % 20}"},
        "data": {"text": "x" * 200}}) for number in range(OBJECTS)) + "\n---\n" + "\n---\n".join(json.dumps({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"team-{number}"}}) for number in range(20)))
    result = pathlib.Path(folder) / "live-result.json"

    def measure(progress):
        def once(_):
            _on_a_terminal([fairlead, "sandbox", "--", fairlead, "apply", "-f", str(bundle), "-o", "json",
                            "--progress", progress], result)
            return json.loads(result.read_text())["summary"]["seconds"]
        return once

    with_view = Arm(f"{OBJECTS} objects with the live view, s", measure("tty"))
    without = Arm("without", measure("quiet"))
    interleave([with_view, without], max(rounds, ROUNDS))
    figures.at_most("the live view, to a quiet run", with_view, without, 1.02)
