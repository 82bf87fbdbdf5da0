#!/usr/bin/env python3
"""Writes docs/api/*.md from the comments of the public headers.

Usage: gen_api_docs.py [--check]

Every exported function must have a comment that says what it does, and four parts: its errors (@retval lines or a paragraph
`Errors:`), `Ownership:`, `Threads:` and `Cost:`. A part that a group of functions shares stands once in the comment with
@name that opens the group, and is carried to each of them; a function's own part replaces it. What is missing is an error
here. With --check nothing is written: exit status 1 tells that a page is not what it should be.
"""
import pathlib
import re
import sys
import textwrap

import public_headers

PAGES = public_headers.ROOT / "docs/api"
PARTS = ("Errors", "Ownership", "Threads", "Cost")
WIDTH = 100
OPENING = re.compile(r"^(?P<part>Errors|Ownership|Threads|Cost): *|^@(?P<tag>param(?:\[out\])?|retval|since|file|brief)(?: +|$)")


class Comment:
    """A comment taken apart: paragraphs of text, parts by name, parameters, statuses."""

    def __init__(self, text):
        self.text, self.parts, self.params, self.statuses, self.since = [], {}, [], [], ""
        block, blocks = [], []
        for line in text.split("\n"):
            if not line.strip() or OPENING.match(line.strip()):
                blocks.append(block)
                block = []
            if line.strip():
                block.append(line)
        for lines in filter(None, [*blocks, block]):
            self.add(lines)

    def add(self, lines):
        match = OPENING.match(lines[0].strip())
        rest = " ".join(line.strip() for line in lines)[match.end():] if match else ""
        if not match:
            self.text.append(lines)
        elif match["part"]:
            self.parts[match["part"]] = rest
        elif match["tag"].startswith("param"):
            names, _, what = re.match(r"((?:\w+, )*\w+)(\s+)(.*)", rest).groups()
            self.params.append((names, what))
        elif match["tag"] == "retval":
            status, _, what = rest.partition(" ")
            self.statuses.append((status, what.strip()))
        elif match["tag"] == "since":
            self.since = rest


def wrap(text, first="", rest=""):
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False,
                         break_on_hyphens=False)


def item(text):
    return wrap(text, "* ", "  ")


def paragraphs(lines_of_text):
    """Prose is wrapped; indented lines are code and stay."""
    for lines in lines_of_text:
        if all(line.startswith("    ") for line in lines):
            yield "```c\n" + "\n".join(line[4:] for line in lines) + "\n```"
        else:
            yield wrap(" ".join(line.strip() for line in lines))


# ---- one function ----

def parts_of(function):
    """(comment, parts by name): the function's own before those of its group."""
    own, shared = Comment(function.doc), Comment(function.group.doc)
    parts = {**shared.parts, **own.parts}
    if own.statuses:
        parts.pop("Errors", None)
    return own, parts


def missing(function):
    own, parts = parts_of(function)
    lacks = [part for part in PARTS if part not in parts and not (part == "Errors" and own.statuses)]
    if not own.text:
        lacks.insert(0, "what it does")
    known = {p.name for p in function.params}
    bad = [name for names, _ in own.params for name in names.split(", ") if name not in known]
    for what in lacks:
        yield f"{function.header}: {function.name}: the comment lacks: {what}"
    for name in bad:
        yield f"{function.header}: {function.name}: the comment speaks of a parameter '{name}' that does not exist"
    if own.statuses and function.type != "plx_status":
        yield f"{function.header}: {function.name}: returns no status, but the comment has @retval"


def prototype(function):
    """Broken between parameters where it is too long for a line."""
    head, _, rest = re.sub(r"\s+", " ", function.prototype).partition("(")
    lines = [head + "("]
    for parameter in rest.split(", "):
        if len(lines[-1]) + len(parameter) + 1 > WIDTH:
            lines[-1] = lines[-1].rstrip()
            lines.append(" " * (len(head) + 1))
        lines[-1] += parameter + ", "
    return "\n".join(lines).removesuffix(", ") + ";"


def function_page(function):
    own, parts = parts_of(function)
    out = [f"### {function.name}", "", "```c", prototype(function), "```", ""]
    for text in paragraphs(own.text):
        out += [text, ""]
    if own.params:
        out += [item(" ".join(f"`{n}`" for n in names.split(", ")).replace("` `", "`, `") + f": {what}")
                for names, what in own.params] + [""]
    if own.statuses:
        out += ["**Errors**", ""] + [item(f"`{status}`: {what}") for status, what in own.statuses] + [""]
    for part in PARTS:
        if part in parts:
            out += [wrap(f"**{part}**: {parts[part]}"), ""]
    if own.since:
        out += [f"Since {own.since}.", ""]
    return out


# ---- pages ----

def brief(header):
    lines = header.doc.split("\n")
    text = re.search(r"@brief (.*?)(?:\n\s*\n|\Z)", header.doc, re.S)
    return " ".join(text[1].split()) if text else " ".join(lines)


def page(header):
    rest = re.sub(r"@brief .*?(?:\n\s*\n|\Z)", "", re.sub(r"@file.*\n?", "", header.doc), flags=re.S).strip("\n")
    out = [f"# {header.path}", "", wrap(brief(header)), ""]
    for text in paragraphs(Comment(rest).text + [[f"{k}: {v}"] for k, v in Comment(rest).parts.items()]):
        out += [text, ""]
    if header.types:
        out += ["## Types", ""]
        for words, doc in header.types:
            for text in paragraphs(Comment(doc).text):
                out += [text, ""]
            out += ["```c", words + ";", "```", ""]
    group = None
    for function in header.functions:
        if function.group is not group:
            group = function.group
            out += [f"## {group.name or 'Functions'}", ""]
            for text in paragraphs(Comment(group.doc).text):
                out += [text, ""]
        out += function_page(function)
    return "\n".join(out).rstrip("\n") + "\n"


def index(headers):
    out = ["# The C interface", "",
           wrap("Made from the comments of the public headers by `make docs`. A program includes `parallax/parallax.h`, which "
                "has everything. What can fail returns a `plx_status`; `plx_context_error()` has the sentence behind a "
                "failure. NULL where something is needed is `PLX_E_ARG`, never a crash; a getter of NULL gives 0, NULL, NaN or "
                "an empty text."), ""]
    for header in headers:
        out += [item(f"[{header.path}]({page_name(header)}): {brief(header)}")]
    out += ["", "## Functions", ""]
    rows = sorted((f.name, page_name(h)) for h in headers for f in h.functions)
    out += [f"* [`{name}`]({where}#{name})" for name, where in rows]
    return "\n".join(out) + "\n"


def page_name(header):
    return header.path.removesuffix(".h") + ".md"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    check = sys.argv[1:] == ["--check"]
    headers = public_headers.read_all()
    undocumented = [line for h in headers for f in h.functions for line in missing(f)]
    if undocumented:
        sys.exit("\n".join(undocumented))
    shown = [h for h in headers if h.functions or h.types]
    pages = {PAGES / page_name(h): page(h) for h in shown}
    pages[PAGES / "README.md"] = index(shown)
    stale = [p for p, text in pages.items() if not p.exists() or p.read_text() != text]
    stray = [p for p in PAGES.glob("*.md") if p not in pages] if PAGES.exists() else []
    if not check:
        PAGES.mkdir(exist_ok=True)
        for p in stray:
            p.unlink()
        for p in stale:
            p.write_text(pages[p])
    for p in stale + stray:
        print(f"{p.relative_to(public_headers.ROOT)}: {'is not current; run make docs' if check else 'written'}")
    return 1 if check and stale + stray else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except public_headers.HeaderError as e:
        sys.exit(f"gen_api_docs.py: {e}")
