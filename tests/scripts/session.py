"""One run of a script: its namespace, its webhooks and watches, and the carrying out of its steps."""
import json
import re
from collections.abc import Callable

from tests.scripts.fields import parts_of, value_at
from tests.scripts.given import repeat_until, wait_until_furnished, wait_until_taken_in
from tests.scripts.normal import random_names
from tests.scripts.script import Mistake
from tests.scripts.watch import Watch
from tests.scripts.webhooks import Webhooks

PLACEHOLDER = re.compile(r"\{(url:)?[A-Za-z0-9-]+\}")


def path_of_object(method, path, answer):
    """Where the object is that a request was answered with: a POST is sent to the collection."""
    return f"{path}/{answer.get('metadata', {}).get('name', '')}" if method == "POST" else path


class Session:
    def __init__(self, server, identity, normal):
        self.server, self.identity, self.normal = server, identity, normal
        self.namespace = f"script-{identity}"
        self.webhooks = None
        self.watches = {}
        self.made = []  # paths of what is not in the script's namespace, to be removed at the end
        self.last = None  # the last answer, as it came
        self.variables = {}  # by their placeholders
        self.random = {}  # names that the server has made up

    def begin(self):
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        status, answer = self.server.json("POST", "/api/v1/namespaces", namespace)
        if status != 201:
            raise Mistake(f"no namespace for the script: {answer}")
        wait_until_furnished(self.server, self.namespace)

    def end(self):
        """Removes what was made, without waiting for it to be gone, but for what needs our webhooks to go."""
        for watch in self.watches.values():
            watch.close()
        for path in reversed(self.made):
            self.server.json("DELETE", path)
        self.server.json("DELETE", f"/api/v1/namespaces/{self.namespace}")
        if self.webhooks:
            for path in self.made:
                if "/customresourcedefinitions/" in path:
                    self.until(f"{path}: absent")
            self.webhooks.close()

    def replacements(self):
        known = {self.namespace: "{ns}", self.identity: "{id}"}
        if self.webhooks:
            known |= {self.webhooks.ca: "{ca}"}
            known |= {self.webhooks.url(name): f"{{url:{name}}}" for name in self.webhooks.behaviours}
        return known

    def fill(self, text):
        for value, placeholder in self.replacements().items():
            text = text.replace(placeholder, value)
        for placeholder, value in self.variables.items():
            text = text.replace(placeholder, value)
        unknown = PLACEHOLDER.search(text)
        if unknown:
            raise Mistake(f"{unknown[0]} has no value yet")
        return text

    def perform(self, step):
        """The answer as (head, body) where the step has one."""
        argument, body = self.fill(step.argument), self.fill(step.body)
        if step.verb in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            head, self.last = self.request(step.verb, argument, body, step)
            return head, self.comparable(self.last, step if head < "4" else None)
        if step.verb == "EVENTS":
            name, count = argument.split()
            self.last = self.watches[name].take(int(count))
            return f"{len(self.last)} events", [self.comparable(event, step) for event in self.last]
        if step.verb == "CALLS":
            name, _, order = argument.partition(" ")
            calls = [self.comparable(call, step) for call in self.webhooks.take_calls(name)]
            if order:
                calls.sort(key=str)
            if order == "distinct":
                calls = [call for call, before in zip(calls, [None, *calls]) if call != before]
            return f"{len(calls)} calls", calls
        steps: dict[str, Callable] = {
            "GIVEN": self.given, "PROBE": self.probe, "UNTIL": self.until, "LET": self.let, "WATCH": self.watch,
            "WEBHOOK": self.webhook}
        steps[step.verb](argument, body, step)
        return None

    def comparable(self, value, step):
        self.random |= random_names(value)
        self.normal.replace(self.random | self.replacements())
        value = self.normal.value(value)
        return parts_of(value, step.parts) if step else value

    def request(self, method, path, body, step):
        headers = dict(step.headers)
        if body:
            headers.setdefault("Content-Type", "application/json")
        status, answer_headers, text = self.server.request(method, path, body, headers)
        self.normal.replace(self.replacements())
        warnings = "".join(f" Warning: {self.normal.text(value)}" for value in answer_headers.get_all("Warning") or [])
        try:
            answer = json.loads(text)
        except ValueError:
            answer = text
        if status == 201 and "dryRun" not in path and f"/namespaces/{self.namespace}/" not in path:
            self.remember(method, path.split("?")[0], answer)
        if method != "GET" and status < 300 and "dryRun" not in path:
            self.wait_until_cached(method, path.split("?")[0], answer)
        return f"{status}{warnings}", answer

    def remember(self, method, path, answer):
        path = path_of_object(method, path, answer)
        if not path.endswith("/"):
            self.made.append(path)

    def wait_until_cached(self, method, path, answer):
        """
        Reads what was written until the server's cache has it. An update begins with the cached copy; if that is stale,
        the server begins again, and calls the webhooks twice. Custom resources are left out: reading them would call
        their conversion webhook.
        """
        version = answer.get("metadata", {}).get("resourceVersion") if isinstance(answer, dict) else None
        if self.webhooks and version and self.identity not in path.partition("/namespaces/")[0]:
            self.server.request("GET", f"{path_of_object(method, path, answer)}?resourceVersion={version}")

    def given(self, path, body, step):
        head, answer = self.request("POST", path, body, step)
        if not head.startswith("201"):
            raise Mistake(f"GIVEN {path}: {head} {answer}")
        self.last = answer
        wait_until_taken_in(self.server, self.identity, answer)

    def probe(self, argument, body, step):
        status, method, path = argument.split()

        def attempt():
            head, answer = self.request(method, path, body, step)
            return head.startswith(status), f"{head} {answer}"
        repeat_until(f"PROBE {argument}", attempt)
        if self.webhooks:
            self.webhooks.forget_calls()

    def until(self, argument, _=None, step=None):
        path, _, condition = argument.partition(": ")
        field, _, wanted = condition.partition(" = ")

        def attempt():
            status, answer = self.server.json("GET", path.strip(), headers=step.headers if step else None)
            if condition.strip() == "absent":
                return status == 404, f"{status} {answer}"
            return status == 200 and str(value_at(answer, field.strip())) == wanted.strip(), f"{status} {answer}"
        repeat_until(f"UNTIL {argument}", attempt)

    def let(self, argument, *_):
        name, _, path = argument.partition(" = ")
        value = value_at(self.last, path.strip())
        if not isinstance(value, str):
            raise Mistake(f"LET {argument}: the last answer has no such text")
        self.variables[f"{{{name.strip()}}}"] = value

    def watch(self, argument, *_):
        path, _, name = argument.partition(" as=")
        self.watches[name.strip()] = Watch(self.server, path.strip())

    def webhook(self, name, body, _):
        self.webhooks = self.webhooks or Webhooks()
        self.webhooks.set(name, json.loads(body or "{}"))
