"""Makes the pictures of README.md from one real run on the sandbox: the live view in a terminal, and the page of --timeline.

python3 -m scripts.pictures FAIRLEAD FOLDER     # writes live-view.svg and timeline.png
"""
import base64
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from tests.timeline.browser import Browser

COLUMNS, ROWS = 120, 24
# The moment of the picture: the webhook is reachable and does not answer yet, and most objects are ready.
MOMENT = re.compile(r"^ *[45](\.\d)?s · \d+ of", re.M)
CELL, LINE, MARGIN = 7.8, 18, 16
PALETTE = {"fg": "#d8dee9", "bg": "#1e2430", "31": "#f0717b", "32": "#8fc97f", "33": "#e6c370", "36": "#7cc5d9", "2": "#8b95a7", "90": "#8b95a7"}


def deployment(name, namespace, ready_after, **annotations):
    annotations = {f"sandbox.fairlead.dev/{key.replace('_', '-')}": value
                   for key, value in {"ready_after": ready_after, **annotations}.items()}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": namespace},
            "spec": {"selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}, "annotations": annotations},
                                  "spec": {"containers": [{"name": "app", "image": f"example.com/{name}:1"}]}}}}


def certificate():
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=harbour",
               "-keyout", "/dev/null"]
    return base64.b64encode(subprocess.run(command, capture_output=True, check=True).stdout).decode()


def bundle():
    """A harbour: an operator, the webhook that it serves, the custom resources that the webhook checks, and a web site."""
    names = {"kind": "Berth", "plural": "berths", "singular": "berth"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    webhook = {"name": "berths.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail",
               "clientConfig": {"service": {"namespace": "harbour", "name": "harbour-master"}, "caBundle": certificate()},
               "rules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
                          "resources": ["berths"]}]}
    objects = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "harbour"}},
               {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": "berths.example.com"},
                "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}},
               {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
                "metadata": {"name": "harbour-master"}, "webhooks": [webhook]},
               {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "harbour-master", "namespace": "harbour"},
                "spec": {"selector": {"app": "harbour-master"}, "ports": [{"port": 443}]}},
               deployment("harbour-master", "harbour", "2s", listens_after="5s"),
               deployment("tide-table", "harbour", "9s"), deployment("website", "harbour", "11s")]
    objects += [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"chart-{number:02}", "namespace": "harbour"}}
                for number in range(6)]
    objects += [{"apiVersion": "example.com/v1", "kind": "Berth", "metadata": {"name": name, "namespace": "harbour"}}
                for name in ("east-quay", "north-quay", "south-quay", "west-quay")]
    return "\n---\n".join(json.dumps(one) for one in objects)


class Terminal:
    """A window of tmux, in colour, in which one command runs."""

    def __init__(self, folder, script):
        self.tmux = ["tmux", "-f", "/dev/null", "-S", str(folder / "tmux")]
        subprocess.run([*self.tmux, "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS), "bash", "-c", script], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run([*self.tmux, "kill-server"], capture_output=True)

    def screen(self):
        return subprocess.run([*self.tmux, "capture-pane", "-e", "-p"], capture_output=True, text=True, check=True).stdout


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def spans(lines):
    """The pieces of the screen: their row, column, text, colour and weight. tmux tells a colour only where it changes."""
    colour, bold = "fg", False
    for row, line in enumerate(lines):
        column = 0
        for code, text in re.findall(r"(?:\x1b\[([0-9;]*)m)?([^\x1b]*)", line):
            for number in code.split(";") if code else []:
                number = number.lstrip("0")
                if number == "":
                    colour, bold = "fg", False
                elif number in ("22", "39"):
                    colour, bold = ("fg", bold) if number == "39" else (colour, False)
                elif number == "1":
                    bold = True
                elif number in PALETTE:
                    colour = number
            if text.strip():
                yield row, column, text, PALETTE[colour], bold
            column += len(text)


def svg(screen, title):
    lines = screen.rstrip("\n").split("\n")
    width, height = COLUMNS * CELL + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" '
             f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="13">',
             f"<title>{html.escape(title)}</title>",
             f'<rect width="100%" height="100%" rx="8" fill="{PALETTE["bg"]}"/>']
    for row, column, text, colour, bold in spans(lines):
        x, y = MARGIN + column * CELL, MARGIN + row * LINE + 13
        weight = ' font-weight="bold"' if bold else ""
        parts.append(f'<text x="{x:.1f}" y="{y}" fill="{colour}"{weight} xml:space="preserve" '
                     f'textLength="{len(text) * CELL:.1f}">{html.escape(text)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def main():
    fairlead, target = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "harbour.yaml").write_text(bundle())
        # The prompt and the command, as somebody would have typed it.
        script = (f"cd {folder}; printf '$ fairlead apply --name harbour -f harbour.yaml\\n'; "
                  f"TERM=xterm-256color {fairlead} sandbox -- {fairlead} apply --name harbour -f harbour.yaml "
                  "--progress tty --timeline run.html; touch done; sleep 60")
        with Terminal(folder, script) as terminal:
            screen = ""
            while not MOMENT.search(plain(screen)):
                if (folder / "done").exists():
                    sys.exit(f"the moment of the picture did not come:\n{plain(terminal.screen())}")
                screen = terminal.screen()
                time.sleep(0.05)
            (target / "live-view.svg").write_text(svg(screen, "The live view of fairlead apply"))
            while not (folder / "done").exists():
                time.sleep(0.1)
        with Browser(1280, 640) as browser:
            browser.open(folder / "run.html")
            browser.key("End", "ArrowUp", "ArrowUp", "ArrowUp")
            browser.screenshot(target / "timeline.png")
    for picture in ("live-view.svg", "timeline.png"):
        print(target / picture, (target / picture).stat().st_size, "bytes")


if __name__ == "__main__":
    main()
