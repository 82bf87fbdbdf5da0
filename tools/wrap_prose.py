#!/usr/bin/env python3
"""Wraps the prose of Markdown files at 100 columns, or checks that it is.

Usage: wrap_prose.py [--check] FILE...

Paragraphs and list items with a line that is too long are filled anew; tables, headings, code, quotations and HTML stay
as they are. A word longer than the line (an address) stays whole.
"""
import re
import sys
import textwrap

WIDTH = 100
ITEM = re.compile(r"^(\s*)([-*+]|\d+[.)])(\s+)")
KEPT = re.compile(r"^\s*(\||#|<|>|!\[|\[[^\]]+\]:|[-=*_]{3,}\s*$)|^( {4}|\t)")


MARKER = re.compile(r" (?=(?:[-+*]|\d+[.)]|#+|[>|=]) )")  # a line that begins with one of these is no prose any more


def fill(text, first="", rest=""):
    lines = textwrap.wrap(MARKER.sub("\x00", text), WIDTH, initial_indent=first, subsequent_indent=rest,
                          break_long_words=False, break_on_hyphens=False)
    return [line.replace("\x00", " ") for line in lines]


def too_long(lines):
    """A line of one word cannot be shorter."""
    return any(len(line) > WIDTH and len(line.split()) > 2 for line in lines)


def starts_block(line, inside):
    """Whether the line begins a paragraph or item of its own; inside a list item, indented lines go on with it."""
    return bool(ITEM.match(line)) or (not inside and bool(KEPT.match(line))) or (
        inside and bool(re.match(r"^\s*(\||#|<|>)", line)))


def blocks(lines):
    """Groups of lines: each a paragraph, an item, or something that is kept."""
    at, fenced = 0, False
    while at < len(lines):
        line = lines[at]
        if line.lstrip().startswith("```"):
            fenced = not fenced
        inside = bool(ITEM.match(line))
        if fenced or not line.strip() or line.lstrip().startswith("```") or (KEPT.match(line) and not inside):
            yield "kept", [line]
            at += 1
            continue
        end = at + 1
        while end < len(lines) and lines[end].strip() and not lines[end].lstrip().startswith("```") and \
                not starts_block(lines[end], inside):
            end += 1
        yield "prose", lines[at:end]
        at = end


def wrapped(group):
    item = ITEM.match(group[0])
    if not item:
        indent = re.match(r"\s*", group[0]).group()
        return fill(" ".join(line.strip() for line in group), indent, indent)
    first = item.group(0)
    text = " ".join([group[0][len(first):].strip()] + [line.strip() for line in group[1:]])
    return fill(text, first, " " * len(first))


def wrap(text):
    out = []
    for kind, group in blocks(text.split("\n")):
        out += wrapped(group) if kind == "prose" and too_long(group) else group
    return "\n".join(out)


def main():
    check = "--check" in sys.argv[1:]
    bad = 0
    for path in [a for a in sys.argv[1:] if a != "--check"]:
        with open(path, encoding="utf-8") as f:
            before = f.read()
        after = wrap(before)
        if after == before:
            continue
        bad += 1
        if check:
            print(f"{path}: prose beyond {WIDTH} columns; run tools/wrap_prose.py on it")
        else:
            with open(path, "w", encoding="utf-8") as f:
                f.write(after)
    return 1 if check and bad else 0


if __name__ == "__main__":
    sys.exit(main())
