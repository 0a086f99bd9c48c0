"""Paths into JSON values."""
import re

TOKEN = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)")


def value_at(value, path):
    """Brackets pick an item: by a field, "conditions[type=Ready].status", by number, or all, "items[*].kind"."""
    before, every, behind = path.partition("[*]")
    if every:
        return [value_at(item, behind) for item in value_at(value, before) or []]
    for bracket, member in TOKEN.findall(path):
        if member:
            value = value.get(member) if isinstance(value, dict) else None
        elif not isinstance(value, list):
            return None
        elif bracket.isdigit():
            value = value[int(bracket)] if int(bracket) < len(value) else None
        else:
            field, _, wanted = bracket.partition("=")
            value = next((item for item in value if str(value_at(item, field)) == wanted), None)
    return value


def parts_of(value, paths):
    """Only what there is at the paths, if there are any."""
    parts = {path: value_at(value, path) for path in paths}
    return {path: part for path, part in parts.items() if part is not None} if paths else value
