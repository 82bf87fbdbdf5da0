"""Reads the public headers: every exported function with its prototype and its comment, every enum and option struct.

Strict on purpose: what stands behind PLX_API and cannot be taken apart is an error, so that no function escapes the
tests and pages made from here.
"""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKEN = re.compile(r"/\*\*(?P<doc>.*?)\*/|/\*(?P<note>.*?)\*/|(?P<punct>[;{}])|(?P<other>[^;{}/]+|/)", re.S)
PROTOTYPE = re.compile(r"PLX_API (?P<nodiscard>PLX_NODISCARD )?(?P<type>.+?)(?P<name>plx_\w+)\((?P<params>.*)\)")
PARAMETER = re.compile(r"(?P<type>[\w ]+?[ *](?:\*|const |\* ?const \*?)*)(?P<name>\w+)")


class HeaderError(Exception):
    pass


@dataclasses.dataclass
class Parameter:
    type: str
    name: str

    @property
    def is_pointer(self):
        return self.type.endswith("*")


@dataclasses.dataclass
class Group:
    """Functions under one heading: a comment that begins with @name, or a line of dashes."""
    name: str = ""
    doc: str = ""


@dataclasses.dataclass
class Function:
    name: str
    type: str
    params: list
    doc: str
    group: Group
    header: str
    prototype: str


@dataclasses.dataclass
class Header:
    path: str
    doc: str
    functions: list
    types: list  # (declaration as text, its comment)
    enums: dict  # name -> constants
    structs: dict  # name -> [(type, field)]


def tidy(text):
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"\*\s+(?=\*)", "*", text)


def parse_parameters(text, where):
    if text.strip() == "void":
        return []
    found = []
    for part in text.split(","):
        match = PARAMETER.fullmatch(tidy(part))
        if not match or "(" in part or "[" in part:
            raise HeaderError(f"{where}: cannot read the parameter '{tidy(part)}'; give it a name and a plain type")
        found.append(Parameter(match["type"].strip(), match["name"]))
    return found


def parse_function(text, doc, group, header):
    match = PROTOTYPE.fullmatch(text)
    if not match:
        raise HeaderError(f"{header}: cannot read the prototype '{text}'")
    plain = "".join(match[g] or "" for g in ("type", "name")) + "(" + match["params"] + ")"
    return Function(match["name"], match["type"].strip(), parse_parameters(match["params"], f"{header}: {match['name']}"), doc,
                    group, header, plain)


def parse_fields(body):
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    fields = []
    for line in filter(None, (tidy(part) for part in body.split(";"))):
        first, *more = line.split(",") if "(" not in line else [line]
        match = PARAMETER.fullmatch(tidy(first))
        if not match:
            fields.append(("function", line))
            continue
        names = [match["name"]] + [re.sub(r"[ *]", "", name) for name in more]
        fields += [(match["type"].strip(), name) for name in names]
    return fields


def statements(text):
    """Top-level statements of a header: (comment before it, text with bodies, group it is in)."""
    text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.M)
    text = text.replace('extern "C" {', "")
    doc, words, depth, group = None, "", 0, Group()
    for match in TOKEN.finditer(text):
        if match["doc"] is not None or match["note"] is not None:
            if depth:
                words += match[0]
            elif match["doc"] is not None and clean(match["doc"]).startswith("@name "):
                name, _, rest = clean(match["doc"]).partition("\n")
                group, doc = Group(name.removeprefix("@name ").strip(), rest.strip()), None
            elif match["doc"] is not None and not words.strip():
                doc = match["doc"]
            elif match["note"] is not None and match["note"].strip().startswith("----"):
                group, doc = Group(match["note"].strip(" -\n").capitalize()), None
            continue
        word = match[0]
        depth += (word == "{") - (word == "}")
        if depth < 0:  # the brace that closes extern "C"
            depth, words = 0, ""
        elif word == ";" and depth == 0:
            yield doc, words.strip(), group
            doc, words = None, ""
        else:
            words += word


def clean(doc):
    return "\n".join(re.sub(r"^[ \t]*\* ?", "", line).rstrip() for line in doc.strip().splitlines()) if doc else ""


def parse_header(path):
    text = path.read_text()
    name = path.name.removesuffix(".in")
    head = re.match(r"/\*\*(.*?)\*/", text, re.S)
    if not head:
        raise HeaderError(f"{name}: does not begin with a comment")
    header = Header(name, clean(head[1]), [], [], {}, {})
    for doc, words, group in statements(text[head.end():]):
        plain = tidy(words)
        if "PLX_API" in plain:
            header.functions.append(parse_function(plain, clean(doc), group, name))
            continue
        header.types.append((words, clean(doc)))
        match = re.match(r"typedef (enum|struct) (\w+) ?\{(.*)\} (\w+)$", words, re.S)
        if match and match[1] == "enum":
            header.enums[match[4]] = re.findall(r"PLX_\w+", re.sub(r"/\*.*?\*/", "", match[3], flags=re.S))
        elif match:
            header.structs[match[4]] = parse_fields(match[3])
    return header


def exported():
    return [line for line in (ROOT / "tools/symbols.txt").read_text().split("\n") if line and not line.startswith("#")]


def read_all():
    """All headers; an error when what they declare is not exactly what tools/symbols.txt lists."""
    folder = ROOT / "include/parallax"
    headers = [parse_header(p) for p in sorted(folder.glob("*.h")) + sorted(folder.glob("*.h.in"))]
    declared = [f.name for h in headers for f in h.functions]
    listed = exported()
    problems = [f"{s} is exported but no public header declares it" for s in listed if s not in declared]
    problems += [f"{s} is declared but not exported" for s in declared if s not in listed]
    problems += [f"{s} is declared twice" for s in sorted(set(declared)) if declared.count(s) > 1]
    if problems:
        raise HeaderError("\n".join(problems))
    return headers
