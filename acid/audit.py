"""What the API server itself has noted down of a run: its audit log and its metrics."""
import json
import re

TOOL_USER = "token-admin"  # the tool under test, and nobody else


def policy(counted):
    """Every request of the tool; of everybody else, the writes of `counted`, (group, plural) each."""
    rules: list[dict] = [{"level": "Metadata", "users": [TOOL_USER]}]
    rules += [{"level": "Metadata", "verbs": ["create", "update", "patch"],
               "resources": [{"group": group, "resources": [plural]}]} for group, plural in counted]
    return {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
            "rules": [*rules, {"level": "None"}]}


class AuditLog:
    def __init__(self, path):
        self.path = path

    def events(self):
        """One a request: of a watch, the first of the two."""
        seen = set()
        if not self.path.exists():
            return
        with open(self.path) as lines:
            for line in lines:
                event = json.loads(line)
                if event["auditID"] not in seen:
                    seen.add(event["auditID"])
                    yield event

    def requests(self):
        return sum(event["user"]["username"] == TOOL_USER for event in self.events())

    def writes(self, group, plural):
        """Names of what was stored of a resource, one a write, whoever wrote."""
        return [event["objectRef"].get("name", "") for event in self.events()
                if event["verb"] in ("create", "update", "patch") and event.get("responseStatus", {}).get("code", 500) < 300
                and event.get("objectRef", {}).get("apiGroup", "") == group and event["objectRef"]["resource"] == plural
                and "subresource" not in event["objectRef"] and "dryRun=" not in event["requestURI"]]


def metric(text, name, /, **labels):
    """The sum of a counter over everything that has these labels; `text` is the answer of /metrics."""
    total = 0.0
    for line in text.splitlines():
        if found := re.match(rf"{name}(?:{{(.*)}})? (\S+)$", line):
            has = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', found[1] or ""))
            if all(has.get(key) == value for key, value in labels.items()):
                total += float(found[2])
    return int(total)


def asked_and_answered(text, webhook):
    """How often a webhook was called and gave an answer of its own, yes or no; dry runs are among them."""
    return sum(metric(text, "apiserver_admission_webhook_request_total", name=webhook, code=code)
               for code in ("200", "400", "403", "422"))


def let_through(text, webhook):
    """How often a webhook did not answer and was skipped."""
    return metric(text, "apiserver_admission_webhook_fail_open_count", name=webhook)
