"""The text of a script: steps with their bodies and answers, read and written back."""
import json
import re

STEP = re.compile(r"^(GET|POST|PUT|PATCH|DELETE|GIVEN|PROBE|UNTIL|LET|WATCH|EVENTS|WEBHOOK|CALLS)\b\s*(.*)$")
HEADER = re.compile(r"^([A-Z][A-Za-z-]+): (.+)$")
RECORDED = {"GET", "POST", "PUT", "PATCH", "DELETE", "EVENTS", "CALLS"}
WIDTH = 110  # an object or array that fits stands on one line


class Mistake(Exception):
    """A script that makes no sense, or a server that lets it down."""


class Step:
    def __init__(self, verb, argument, line):
        self.verb, self.argument, self.line = verb, argument, line
        self.lead = []  # comments before it
        self.source = []  # its lines as they stand, answer excluded
        self.headers = {}
        self.parts = []  # the paths of what alone is recorded of the answer; all of it if there are none
        self.body = ""
        self.answer = None  # text behind "-->", the rest of that line first


class Script:
    def __init__(self, path):
        self.path = path
        self.steps = []
        self.epilogue = []  # comments behind the last step
        self.ignored = []
        self.alone = False  # no other script may run at the same time
        self.text = path.read_text()
        self.read(self.text.splitlines())

    def read(self, lines):
        comments: list[str] = []
        step = None
        for number, line in enumerate(lines, 1):
            match = STEP.match(line)
            if match:
                step = Step(match[1], match[2].strip(), number)
                step.lead, comments = comments, []
                step.source.append(line)
                self.steps.append(step)
            elif line.startswith("#") or not line.strip():
                if line.startswith("# ignore:"):
                    self.ignored += [path.strip() for path in line.removeprefix("# ignore:").split(",")]
                if line.startswith("# alone"):
                    self.alone = True
                if line or comments:
                    comments.append(line)
            elif not step:
                raise Mistake(f"{self.path}:{number}: a script begins with comments or a step, not with {line!r}")
            elif line.startswith("-->"):
                if step.verb not in RECORDED:
                    raise Mistake(f"{self.path}:{number}: {step.verb} has no answer")
                step.answer = [line.removeprefix("-->").strip()]
            elif step.answer is not None:
                step.answer.append(line)
            else:
                step.source += [*comments, line]
                comments = []
                self.read_request_line(step, line)
        self.epilogue = comments
        if not self.steps:
            raise Mistake(f"{self.path}: no steps")

    def read_request_line(self, step, line):
        header = HEADER.match(line) if not step.body else None
        if not header:
            step.body += line + "\n"
        elif header[1] == "Part":
            step.parts = [part.strip() for part in header[2].split(",")]
        else:
            step.headers[header[1]] = header[2]

    def write(self, answers):
        """The script with these answers in place of its own."""
        lines = []
        for step, answer in zip(self.steps, answers):
            lines += [*step.lead, *step.source, *([] if answer is None else answer_lines(answer)), ""]
        lines += self.epilogue
        while not lines[-1].strip():
            lines.pop()
        self.path.write_text("\n".join(lines) + "\n")

    def expected(self, step):
        if step.answer is None:
            raise Mistake(f"{self.path}:{step.line}: no answer recorded: run with --record on a real server")
        return [f"--> {step.answer[0]}", *step.answer[1:]]


def answer_lines(answer):
    head, body = answer
    if body is None or body == "":
        return [f"--> {head}"]
    if isinstance(body, str):
        return [f"--> {head}", *(line for line in body.split("\n") if line.strip())]
    return [f"--> {head}", *printed(body).split("\n")]


def printed(value, indent=0, before=0):
    """JSON, each value on one line if it fits behind what stands before it on its line."""
    line = json.dumps(value, sort_keys=True, ensure_ascii=False)
    if not value or not isinstance(value, (dict, list)) or indent + before + len(line) < WIDTH:
        return line
    margin = " " * (indent + 1)
    if isinstance(value, list):
        items, brackets = [printed(item, indent + 1) for item in value], "[]"
    else:
        keys = {key: json.dumps(key, ensure_ascii=False) + ": " for key in sorted(value)}
        items, brackets = [keys[key] + printed(value[key], indent + 1, len(keys[key])) for key in keys], "{}"
    return brackets[0] + "\n" + ",\n".join(margin + item for item in items) + "\n" + " " * indent + brackets[1]
