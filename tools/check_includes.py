#!/usr/bin/env python3
"""Checks the direction of includes over the whole tree.

The folders of src/ stand in one linear order, lowest first. A file may include its own folder and lower ones. A method
(src/methods/NAME.c, or the folder it lives in) may not include another. The command and the examples see nothing but
the public headers. File names are unique, and every method NAME of methods.def is defined in a file NAME.c.
`--print` shows the order with the number of lines of each folder."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ORDER = ["core", "params", "linalg", "device", "data", "io", "run", "optim", "labelsets", "kernel", "graph", "gp", "mixture",
         "cluster", "active", "methods", "eval", "explain", "compare", "ner", "report", "api"]
LEVEL = {name: i for i, name in enumerate(ORDER)}
SHARED_IN_METHODS = {"methods/methods.def", "methods/registry.h", "methods/acquirers.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def sources(folder):
    return sorted((ROOT / folder).rglob("*.[ch]"))


def family(parts):
    """The method a path below src/ belongs to: its folder, or its file when it stands alone."""
    return parts[1] if len(parts) > 2 else pathlib.Path(parts[1]).stem


def include_problem(path, target):
    parts = path.relative_to(ROOT / "src").parts
    layer, other = parts[0], target.split("/")[0]
    if other == "parallax":
        return None
    if other not in LEVEL:
        return f'includes "{target}"; name it from src/'
    if LEVEL[other] > LEVEL[layer]:
        return f"{layer} may not include {target}"
    if layer == other == "methods" and target not in SHARED_IN_METHODS and family(pathlib.Path(target).parts) != family(parts):
        return f"methods may not include each other ({target})"
    return None


def problems():
    for path in sources("src"):
        where = path.relative_to(ROOT)
        if path.relative_to(ROOT / "src").parts[0] not in LEVEL:
            yield f"{where}: unknown folder; name its place in ORDER of tools/check_includes.py"
            continue
        for target in INCLUDE.findall(path.read_text()):
            problem = include_problem(path, target)
            if problem:
                yield f"{where}: {problem}"
    for folder in ("cli", "examples", "include"):
        for path in sources(folder):
            for target in INCLUDE.findall(path.read_text()):
                if not target.startswith("parallax/") and not (path.parent / target).exists():
                    yield f'{path.relative_to(ROOT)}: only public headers here, not "{target}"'
    names = collections.defaultdict(list)
    for folder in ("src", "include", "cli"):
        for path in sources(folder):
            names[path.name].append(str(path.relative_to(ROOT)))
    for name, where in sorted(names.items()):
        if len(where) > 1:
            yield f"file name used twice: {', '.join(sorted(where))}"
    for method in re.findall(r"^\s*\w+\((\w+)\)", (ROOT / "src/methods/methods.def").read_text(), re.M):
        home = [p for p in sources("src/methods") if p.name == method + ".c"]
        if not home or f"plx__method_{method} " not in home[0].read_text():
            yield f"method {method}: its descriptor should be in src/methods/.../{method}.c"


def show_order():
    for name in ORDER:
        files = sources(f"src/{name}") if (ROOT / "src" / name).exists() else []
        lines = sum(len(p.read_text().splitlines()) for p in files)
        print(f"{name:10} {len(files):4} files {lines:6} lines")


if "--print" in sys.argv:
    show_order()
found = list(problems())
print("\n".join(found) if found else "includes: all point downwards")
sys.exit(1 if found else 0)
