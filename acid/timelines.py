"""The picture: a panel for each story, a bar for each tool, from its start until all had taken effect, or it failed."""
import math
import statistics
import xml.sax.saxutils

from acid.summary import seconds

COLUMNS, WIDTH, GAP = 2, 470, 24
LABEL, ROW, HEAD = 92, 17, 46
WORDS = 130  # kept free for what is written behind a bar
STYLE = """
    .bg { fill: #fff } .ink { fill: #1f2933 } .dim { fill: #6b7785 } .axis { stroke: #dfe4ea }
    .good { fill: #2c8a57 } .limit { fill: #9aa7b5 } .bad { fill: #c93a3a } .ours { font-weight: 600 }
    @media (prefers-color-scheme: dark) {
      .bg { fill: #14181d } .ink { fill: #e4e9ef } .dim { fill: #95a1af } .axis { stroke: #2b343d }
      .good { fill: #4fb37e } .limit { fill: #5f6c79 } .bad { fill: #e36262 }
    }"""


class Bar:
    """How long it is, what is written behind it, and its class: good, bad or limit."""

    def __init__(self, summary):
        self.tool, story = summary.tool, summary.story
        self.kind = "limit" if self.tool.name == "limit" else "good"
        self.length = summary.median
        self.words = f"{seconds(summary.median)} s" if summary.median is not None else ""
        lost = len(summary.rows) - len(summary.won)
        if not lost:
            return
        if summary.won:
            self.words += f", {lost} of {len(summary.rows)} failed"
            return
        self.kind = "bad"
        ended = [row["tool_seconds"] for row in summary.rows if row["tool_seconds"] is not None]
        self.length = min(statistics.median(ended), story.cut) if ended else story.cut
        if summary.unvalidated:
            self.words = f"{summary.unvalidated} unvalidated"
        elif summary.hung:
            self.words = "cause not named" if story.kind == "never" else "hung"
        elif summary.left:
            self.words = f"leaves {max(row['left_count'] for row in summary.rows)}"
        else:
            self.words = "cause not named" if story.kind == "never" else "fails"


def scale(bars):
    """The seconds that the axis shows. Whoever hangs, or takes ten times as long, does not squeeze the others together."""
    usual = [bar.length for bar in bars if bar.kind != "bad"] or [bar.length for bar in bars]
    longest = max(bar.length for bar in bars)
    return max(1.0, min(longest, 3 * max(usual)))


def step(most):
    """Of the marks on the axis: at most six of them."""
    return next(size for size in (0.5, 1, 2, 5, 10, 20, 50, 100, 200) if math.ceil(most / size) <= 6)


def panel(story, bars, left, top):
    most = scale(bars)
    room = WIDTH - LABEL - WORDS
    text = xml.sax.saxutils.escape
    yield f'<text class="ink" x="{left}" y="{top + 14}" font-size="14" font-weight="600">{text(story.name)}</text>'
    bottom = top + HEAD + ROW * len(bars)
    mark = 0.0
    while mark <= most:
        x = left + LABEL + room * mark / most
        yield f'<line class="axis" x1="{x:.1f}" y1="{top + HEAD - 12}" x2="{x:.1f}" y2="{bottom - 4}"/>'
        unit = " s" if mark == 0 else ""
        yield f'<text class="dim" x="{x:.1f}" y="{top + HEAD - 16}" font-size="10" text-anchor="middle">{mark:g}{unit}</text>'
        mark += step(most)
    for number, bar in enumerate(bars):
        y = top + HEAD + ROW * number
        ours = " ours" if bar.tool.is_ours else ""
        width = max(2.0, room * min(bar.length, most) / most)
        more = " …" if bar.length > most else ""
        yield f'<text class="ink{ours}" x="{left}" y="{y + 3}">{text(bar.tool.name)}</text>'
        yield f'<rect class="{bar.kind}" x="{left + LABEL}" y="{y - 7}" width="{width:.1f}" height="11" rx="2"/>'
        words = "dim" if bar.kind == "limit" else bar.kind
        yield f'<text class="{words}{ours}" x="{left + LABEL + width + 6:.1f}" y="{y + 3}">{text(bar.words + more)}</text>'


def drawn(stories, tools, summaries):
    panels = []
    for story in stories:
        bars = [Bar(summaries[story.name, tool.name]) for tool in tools if summaries[story.name, tool.name]]
        if bars:
            panels.append((story, bars))
    parts, top = [], 62
    for begin in range(0, len(panels), COLUMNS):
        row = panels[begin:begin + COLUMNS]
        for column, (story, bars) in enumerate(row):
            parts += panel(story, bars, GAP + column * (WIDTH + GAP), top)
        top += HEAD + ROW * max(len(bars) for _, bars in row) + GAP
    width = COLUMNS * (WIDTH + GAP) + GAP
    heading = "Seconds from the start of a tool until the custom resources have taken effect; red: the first attempt failed"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top}" font-family="system-ui, sans-serif"',
        f'     font-size="12">\n  <title>{heading}</title>\n  <style>{STYLE}\n  </style>',
        f'  <rect class="bg" width="{width}" height="{top}" rx="8"/>',
        f'  <text class="dim" x="{GAP}" y="34" font-size="13">{heading}</text>', *(f"  {part}" for part in parts), "</svg>", ""])
