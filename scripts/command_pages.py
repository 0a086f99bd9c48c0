"""Makes a page per command from the help texts of the binary: docs/commands/*.md, and man pages.

python3 -m scripts.command_pages FAIRLEAD [--markdown FOLDER] [--man FOLDER]
"""
import argparse
import pathlib
import re
import subprocess
import textwrap

COLUMN = 42  # where the formatter of the help puts the text of a flag
HEADS = ("Positionals:", "Options:", "Global flags:", "Subcommands:")
TYPES = {"TEXT": "", "UINT": "N", "INT": "N", "FLOAT": "N"}


class Help:
    """The help text of one command, taken apart."""

    def __init__(self, fairlead, name):
        self.name = name
        text = subprocess.run([fairlead, *name.split(), "--help"], check=True, capture_output=True, text=True).stdout
        summary, _, rest = text.partition("Usage: ")
        self.summary = " ".join(summary.split())
        self.usage, _, rest = rest.partition("\n")
        self.tables = {}
        self.footer = ""
        lines = rest.splitlines()
        while lines:
            line = lines.pop(0)
            if line in HEADS:
                self.tables[line[:-1]] = self.read_table(lines)
            elif line.strip():
                self.footer = "\n".join([line, *lines]).strip()
                break
        self.footer = re.sub(r"\n*Global flags: fairlead --help$", "", self.footer)

    @staticmethod
    def read_table(lines):
        rows: list[list[str]] = []
        while lines and lines[0].startswith("  "):
            line = lines.pop(0)
            name, text = line[:COLUMN], line[COLUMN:]
            if not name.strip():  # the name above was too long for its column
                rows[-1][1] = (rows[-1][1] + " " + text).strip()
            elif len(line) > COLUMN and name[-1] != " ":
                rows.append([line.strip(), ""])
            else:
                rows.append([name.strip(), text.strip()])
        return [Row(*row) for row in rows]

    def sections(self):
        """The footer: paragraphs, and those that begin with a line such as "Examples:" with their title."""
        for block in re.split(r"\n\s*\n", self.footer):
            title = re.match(r"([A-Z][A-Za-z ]+):\n", block)
            if title:
                yield title[1], textwrap.dedent(block[title.end():]), True
            elif block.startswith("Exit codes: "):
                yield "Exit codes", block[len("Exit codes: "):], False
            elif block:
                yield "", " ".join(block.split()), False


class Row:
    """A flag, with what the parser says about its values: `-o,--output TEXT:{text,json} Needs: --x`."""

    def __init__(self, name, text):
        self.text = text
        name = re.sub(r" REQUIRED\b", "", name)
        name, *_ = re.split(r" (?:Needs|Excludes): ", name)
        self.flags, _, value = name.partition(" ")
        self.flags = self.flags.replace(",", ", ")
        value = value.replace(" ...", "")
        choices = re.search(r":\{([^}]*)\}", value)
        self.choices = choices[1].split(",") if choices else []
        value = re.sub(r":\{[^}]*\}|:[A-Z]+ in \[[^]]*\]", "", value)
        # "DURATION=15m" is a value with its default, and "KIND=DURATION" is a value alone.
        word, _, default = value.partition("=")
        self.default = default if default and not default.isupper() else ""
        value = word if self.default else value
        self.value = "|".join(self.choices) or TYPES.get(value, value)
        is_argument = not self.flags.startswith("-")
        if is_argument and self.value and not self.choices:
            self.flags, self.value = self.value, ""


def markdown_cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def markdown_table(title, rows):
    lines = [f"## {title}", f"| {'argument' if title == 'Arguments' else 'flag'} | meaning |", "|---|---|"]
    for row in rows:
        name = f"`{row.flags}{' ' + row.value if row.value else ''}`".replace("|", "\\|")
        default = f" (default `{row.default}`)" if row.default else ""
        lines.append(f"| {name} | {markdown_cell(row.text)}{default} |")
    return "\n".join(lines)


def file_name(*words):
    return "-".join(" ".join(words).split()) + ".md"


def pages_of(fairlead, name=""):
    """The command and those below it, by their whole names."""
    page = Help(fairlead, name)
    pages = {f"fairlead {name}".strip(): page}
    for row in page.tables.get("Subcommands", []):
        pages |= pages_of(fairlead, f"{name} {row.flags}".strip())
    return pages


def markdown(page, title):
    parts = [f"# {title}", page.summary + ("" if page.summary.endswith(".") else "."), f"```\n{page.usage}\n```"]
    for head, rows in page.tables.items():
        if head == "Subcommands":
            parts.append("## Commands\n" + "\n".join(f"- [{row.flags}]({file_name(page.name, row.flags)}): {row.text}" for row in rows))
        else:
            parts.append(markdown_table({"Positionals": "Arguments", "Options": "Flags"}.get(head, head), rows))
    for head, text, is_code in page.sections():
        body = f"```\n{text}\n```" if is_code else text
        parts.append(f"## {head}\n{body}" if head else body)
    if page.name:
        parts.append("The [global flags](fairlead.md#global-flags) choose the cluster and the namespace. [cli.md](../cli.md) says more about "
                     "the commands.")
    return "\n\n".join(parts) + "\n"


def roff(text):
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga").replace("~", "\\(ti").replace("^", "\\(ha")
    return "\n".join("\\&" + line if line.startswith((".", "\\(aq")) else line for line in escaped.splitlines())


def man(page, title, version, names):
    parts = [f'.TH {title.upper().replace(" ", "-")} 1 "" "{version}" "Fairlead"', ".SH NAME",
             f"{roff(title.replace(' ', '-'))} \\- {roff(page.summary.rstrip('.'))}", ".SH SYNOPSIS", f".B {roff(page.usage)}"]
    for head, rows in page.tables.items():
        parts.append(f".SH {({'Positionals': 'ARGUMENTS', 'Subcommands': 'COMMANDS'}.get(head, head)).upper()}")
        for row in rows:
            value = f" {row.value}" if row.value else ""
            default = f" The default is {row.default}." if row.default else ""
            parts += [".TP", f".B {roff(row.flags + value)}", roff(row.text.rstrip(".") + "." + default)]
    for head, text, is_code in page.sections():
        parts.append(f".SH {head.upper() or 'DESCRIPTION'}")
        parts += [".EX", roff(text), ".EE"] if is_code else [roff(text)]
    others = [f".BR {roff(name)} (1)" for name in names if name != title.replace(" ", "-")]
    parts += [".SH SEE ALSO", ",\n".join(others)]
    return "\n".join(parts) + "\n"


def write_man(fairlead, folder, pages=None):
    """Writes the man pages of the commands into the folder."""
    pages = pages or pages_of(fairlead)
    # Without the commit: the pages stay the same from one to the next.
    version = " ".join(subprocess.run([fairlead, "version"], check=True, capture_output=True, text=True).stdout.split()[:2])
    names = [title.replace(" ", "-") for title in pages]
    folder.mkdir(parents=True, exist_ok=True)
    for title, page in pages.items():
        (folder / f"{title.replace(' ', '-')}.1").write_text(man(page, title, version, names))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fairlead")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--man", type=pathlib.Path)
    options = parser.parse_args()
    pages = pages_of(options.fairlead)
    if options.markdown:
        options.markdown.mkdir(parents=True, exist_ok=True)
        for title, page in pages.items():
            (options.markdown / file_name(page.name or "fairlead")).write_text(markdown(page, title))
    if options.man:
        write_man(options.fairlead, options.man, pages)


if __name__ == "__main__":
    main()
