"""What the runs of one tool in one story come to."""
import statistics


class Summary:
    def __init__(self, story, tool, rows):
        self.story, self.tool, self.rows = story, tool, rows
        self.won = [row for row in rows if row["ok"]]
        # A failed attempt has no time of its own: what it left behind may come true for other reasons.
        self.times = sorted(row["seconds"] for row in self.won if row["seconds"] is not None)

    def __bool__(self):
        return bool(self.rows)

    @property
    def median(self):
        return statistics.median(self.times) if self.times else None

    @property
    def unvalidated(self):
        """The most that one run has stored so."""
        return max((row.get("unvalidated") or 0 for row in self.rows), default=0)

    def span(self, key):
        """The least and the most of a figure, over all runs that have it."""
        values = [row[key] for row in self.rows if row.get(key) is not None]
        return (min(values), max(values)) if values else None

    @property
    def words(self):
        """What the user saw: of the first run that failed."""
        lost = [row for row in self.rows if not row["ok"]]
        return lost[0]["words"] if lost else ""

    @property
    def hung(self):
        return any(row.get("hung") for row in self.rows)

    @property
    def left(self):
        """What the first run that left something left behind."""
        return next((row["left"] for row in self.rows if row.get("left")), [])


def seconds(value):
    if value is None:
        return ""
    return f"{value:.1f}" if value >= 0.95 else f"{value:.2f}"


def between(span, form=str):
    if span is None:
        return ""
    low, high = map(form, span)
    return low if low == high else f"{low}–{high}"
