#!/usr/bin/env python3
"""The library speaks without the command: no text of src/ names an option (--memory) or a verb (parallax fit) of it. What the
command adds to a message of the library is in cli/hints.c."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Comments, character constants and string literals, so that a quote inside one does not open another.
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])+'|\"((?:\\.|[^\"\\\n])*)\"", re.S)
COMMAND = re.compile(r"(?<![\w-])--[a-z]|\bparallax [a-z]+ ?[^;:,.]*$|'parallax\b")


def problems():
    for path in sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in (".c", ".h", ".def", ".cpp")):
        text = path.read_text()
        for match in TOKEN.finditer(text):
            if match[1] and COMMAND.search(match[1]):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{path.relative_to(ROOT)}:{line}: \"{match[1]}\" speaks of the command; state the fact, hint in cli/hints.c"


found = list(problems())
print("\n".join(found) if found else "messages: the library does not speak of the command")
sys.exit(1 if found else 0)
