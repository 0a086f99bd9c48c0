"""Makes answers of different runs and servers comparable: what differs every time becomes a placeholder."""
import re

ADDRESS = re.compile(r"\b\d+\.\d+\.\d+\.\d+(:\d+)?\b")
PATTERNS = [
    (re.compile(r'(?<=Invalid value: ")\{\\"apiVersion\\":.*\}(?=": )'), "<object>"),  # in the order of Go's structs
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uid>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"\b\d+(\.\d+)?(ms|µs)\b"), "<duration>"),
    (re.compile(r'(?<=in scheme ")[^"]+'), "<scheme>"),  # a place in the server's source, as its build knows it
    (re.compile(r"(?<=kube-api-access-)[a-z0-9]{5}\b"), "<random>"),
    (re.compile(r"(?<=[Rr]esource version: )\d+"), "<version>"),
    (re.compile(r"(?<=too old resource version: <version> \()\d+"), "<version>"),
    (re.compile(r"(?<=, current: )\d+"), "<version>"),
    (re.compile(r"(?<=ResourceVersion in the precondition \()\d+"), "<version>"),
    (re.compile(r"(?<=ResourceVersion in record \()\d+"), "<version>"),
    (re.compile(r"(?<=object not decodable revision=)\d+"), "<version>"),
]
VERSION_FIELDS = {"resourceVersion", "continue"}
PORT_FIELDS = {"nodePort", "healthCheckNodePort"}


class Normal:
    """Placeholders for one run of one script."""

    def __init__(self, script, user):
        self.ignored = [tuple(path.split(".")) for path in script.ignored]
        self.written = {match[0] for match in ADDRESS.finditer(script.text)}  # addresses that are no accident
        self.user = user
        self.replacements = []

    def replace(self, replacements):
        """Longest first, so that a name that contains another is replaced as a whole."""
        self.replacements = sorted(replacements.items(), key=lambda pair: -len(pair[0]))

    def text(self, text):
        for original, placeholder in self.replacements:
            text = text.replace(original, placeholder)
        for pattern, placeholder in PATTERNS:
            text = pattern.sub(placeholder, text)
        return ADDRESS.sub(lambda match: match[0] if match[0] in self.written else "<address>", text)

    def value(self, value, path=()):
        if isinstance(value, dict):
            if value.get("kind") == "Table":
                value = without_ages(value)
            if value.get("kind") == "Status":
                value = with_sorted_causes(value)
            return {self.text(key): self.member(key, child, path) for key, child in value.items()
                    if not self.is_ignored((*path, key))}
        if isinstance(value, list):
            return [self.value(child, path) for child in value]
        return self.text(value) if isinstance(value, str) else value

    def member(self, key, child, path):
        if key in VERSION_FIELDS and isinstance(child, str) and child not in ("", "0"):
            return "<version>"
        if key in PORT_FIELDS and isinstance(child, int):
            return "<port>"
        if key == "userInfo":
            name = child.get("username")
            return {"groups": child.get("groups"), "username": "<me>" if name == self.user else name}
        return self.value(child, (*path, key))

    def is_ignored(self, path):
        """A path is ignored wherever it ends with an ignored one: objects come inside lists, events and reviews too."""
        return any(path[-len(ignored):] == ignored for ignored in self.ignored)


def without_ages(table):
    ages = [number for number, column in enumerate(table.get("columnDefinitions") or []) if column["name"] == "Age"]
    rows = [{**row, "cells": ["<age>" if number in ages else cell for number, cell in enumerate(row["cells"])]}
            for row in table.get("rows") or []]
    return {**table, "rows": rows}


def with_sorted_causes(status):
    """The server finds several faults in random order, and tells them in its message too."""
    causes = (status.get("details") or {}).get("causes") or []
    if len(causes) < 2:
        return status
    ordered = sorted(causes, key=lambda cause: (cause.get("field", ""), cause.get("message", "")))
    told, reordered = (", ".join(f"{cause.get('field')}: {cause.get('message')}" for cause in some)
                       for some in (causes, ordered))
    message = status["message"].replace(told, reordered)
    return {**status, "message": message, "details": {**status["details"], "causes": ordered}}


def random_names(value):
    """The names in an answer that the server has made up, with what stands for them."""
    names = {}
    if isinstance(value, dict):
        metadata = value.get("metadata")
        if isinstance(metadata, dict) and metadata.get("generateName") and metadata.get("name"):
            names[metadata["name"]] = metadata["generateName"] + "<random>"
        if isinstance(value.get("pod-template-hash"), str):
            names[value["pod-template-hash"]] = "<hash>"
        value = list(value.values())
    if isinstance(value, list):
        for child in value:
            names |= random_names(child)
    return names
