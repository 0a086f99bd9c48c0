"""Cuts a few panels out of the picture of all stories, with captions for people who have not read them: docs/acid.svg, for the README.

python3 -m acid.excerpt docs/acid-1.34.svg > docs/acid.svg
"""
import pathlib
import re
import sys
import xml.sax.saxutils

from acid.timelines import COLUMNS, GAP, STYLE, WIDTH

PANELS = [
    ("victoria-metrics", "An operator and the objects that it checks, installed at once",
     "VictoriaMetrics' operator, its webhook, and custom resources."),
    ("late", "A webhook that starts 3 s after its pod is Ready",
     "Waiting for the Deployment is not enough: the webhook does not listen yet."),
    ("ignore", "The same, with failurePolicy: Ignore",
     "The API server skips a webhook that does not answer: nothing is checked."),
    ("out-finalizer", "Deleting an operator together with its objects",
     "Who deletes the operator first leaves objects whose finalizers nobody removes."),
]
CAPTION = 38  # what is above the bars of a panel
TITLE = re.compile(r'<text class="ink" x="(\d+)" y="(\d+)" font-size="14" font-weight="600">([^<]+)</text>')


def panels_of(picture):
    """The lines of each panel, by the name of its story, with the corner that they are drawn from."""
    panels: dict[str, tuple[int, int, list[str]]] = {}
    current = None
    for line in picture.splitlines():
        if title := TITLE.search(line):
            current = panels[title[3]] = (int(title[1]), int(title[2]), [])
        elif current and line.startswith("  <"):
            current[2].append(line.strip())
    return panels


def moved(line, right, down):
    def shift(by):
        return lambda found: f'{found[1]}="{float(found[2]) + by:g}"'
    line = re.sub(r'\b(x[12]?)="([\d.]+)"', shift(right), line)
    return re.sub(r'\b(y[12]?)="([\d.]+)"', shift(down), line)


def excerpt(picture):
    panels = panels_of(picture)
    text = xml.sax.saxutils.escape
    parts, top = [], 52
    for begin in range(0, len(PANELS), COLUMNS):
        tallest = 0
        for column, (name, title, caption) in enumerate(PANELS[begin:begin + COLUMNS]):
            left, above, lines = panels[name]
            x = GAP + column * (WIDTH + GAP)
            parts.append(f'<text class="ink" x="{x}" y="{top}" font-size="14" font-weight="600">{text(title)}</text>')
            parts.append(f'<text class="dim" x="{x}" y="{top + 18}">{text(caption)}</text>')
            parts += [moved(line, x - left, top + CAPTION - 16 - above) for line in lines]
            bottoms = [float(y) for line in lines for y in re.findall(r'\by2?="([\d.]+)"', line)]
            tallest = max(tallest, max(bottoms) - above + CAPTION - 16)
        top += tallest + 46
    width, height = COLUMNS * (WIDTH + GAP) + GAP, top - 22
    heading = "Seconds until everything works, for the first attempt of each tool. Red: that attempt failed."
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:g}" font-family="system-ui, sans-serif" font-size="12">',
        f"  <title>{heading}</title>", f"  <style>{STYLE}\n  </style>", f'  <rect class="bg" width="{width}" height="{height:g}" rx="8"/>',
        f'  <text class="dim" x="{GAP}" y="26" font-size="13">{heading} “limit” is a lower bound, not a tool.</text>',
        *(f"  {part}" for part in parts), "</svg>", ""])


if __name__ == "__main__":
    sys.stdout.write(excerpt(pathlib.Path(sys.argv[1]).read_text()))
