"""Journals as runs of a given size would write them, without a run."""
import json
import random

KINDS = [("", "ConfigMap"), ("", "Secret"), ("", "Service"), ("apps", "Deployment"), ("batch", "Job"), ("", "ServiceAccount"),
         ("rbac.authorization.k8s.io", "RoleBinding"), ("networking.k8s.io", "Ingress"), ("harbour.example.com", "Berth")]
GUARD = "webhook berths.harbour.example.com (ValidatingWebhookConfiguration harbour-master)"
SLOW = {"Deployment", "Job"}


def rollout(objects, seed=1):
    """A rollout of that many objects, in namespaces of about 50 objects each. Berths wait for a webhook that starts late."""
    random.seed(seed)
    keys = [["", "Namespace", "", f"team-{number:03}"] for number in range(max(objects // 50, 1))]
    while len(keys) < objects:
        group, kind = KINDS[len(keys) % len(KINDS)]
        keys.append([group, kind, random.choice(keys[:max(objects // 50, 1)])[3], f"{kind.lower()}-{len(keys):05}"])
    namespaces = {key[3]: node for node, key in enumerate(keys) if key[1] == "Namespace"}
    sources = [f"deploy/{key[2] or 'cluster'}/manifests.yaml:{12 * node % 900 + 1}" for node, key in enumerate(keys)]
    reasons = ["its namespace", "volume data", "webhook berths.harbour.example.com guards it"]
    needs = []
    for node, key in enumerate(keys):
        if key[2]:
            needs.append([node, namespaces[key[2]], 0, 0])
        if key[1] in SLOW and node > 9:
            needs.append([node, node - 3, 1, 0])
        if key[1] == "Berth":
            needs.append([node, objects, 2, 1])
    lines: list[tuple[float, dict]] = [(0.0, {"event": "started", "text": f"{objects} objects", "details": {
        "command": "apply", "time": "2026-05-04T10:20:30Z", "objects": objects, "bundle": "harbour"}})]
    lines.append((0.05, {"event": "graph", "details": {
        "objects": [[*key, source] for key, source in zip(keys, sources)], "others": [["guard", GUARD]], "reasons": reasons, "needs": needs}}))
    answered = 0.2 + objects / 1000
    for rung, at in (("registered", 0.15), ("in effect", 0.6 * answered), ("reachable", 0.8 * answered), ("answering", answered)):
        lines.append((at, {"event": "guard", "state": rung, "text": f"webhook berths.harbour.example.com is {rung}", "details": {"guard": GUARD}}))
    for node, key in enumerate(keys):
        shown = {"group": key[0], "kind": key[1], **({"namespace": key[2]} if key[2] else {}), "name": key[3], "source": sources[node]}
        sent = 0.06 + node / 2500 + random.random() * 0.02
        stored = sent + 0.004 + random.random() * 0.02
        if key[1] == "Berth":
            lines.append((stored, {"event": "parked", "object": shown, "state": "webhook_unreachable", "details": {"sent": sent},
                                   "text": "webhook berths.harbour.example.com: connection refused"}))
            stored = max(stored, answered) + random.random() * 0.1
        ready = stored + (1 + random.random() * 4 if key[1] in SLOW else 0)
        lines.append((stored, {"event": "stored", "object": shown, "state": "created", "details": {"sent": sent}}))
        lines.append((ready, {"event": "ready", "object": shown, "state": "ready", "text": "ready" if key[1] in SLOW else ""}))
    lines.sort(key=lambda line: line[0])
    end = lines[-1][0]
    slowest = lines[-1][1]["object"]
    path = [{"what": f"Namespace {slowest.get('namespace', 'team-000')}", "reason": "", "from": 0.0, "to": 0.1},
            {"what": f"{slowest['kind']} {slowest.get('namespace', '')}/{slowest['name']}", "reason": "its namespace", "from": 0.1, "to": end}]
    lines.append((end + 0.01, {"event": "ended", "state": "done", "details": {"requests": objects + 40, "criticalPath": path}}))
    return "".join(json.dumps({"event": line.pop("event"), "seconds": round(at, 6), **line}, separators=(",", ":")) + "\n"
                   for at, line in lines)
