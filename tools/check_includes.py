#!/usr/bin/env python3
"""Checks the direction of includes: a file may include its own layer and lower ones, methods not each other, and the
command and the examples nothing but the public headers. Also checks that file names are unique in the tree."""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Lower layers first; names on one line may use each other only where listed in ALSO.
LAYERS = [["core"], ["linalg"], ["data"], ["frame"], ["io", "kernel", "graph", "prob", "opt"], ["methods"],
          ["active", "eval", "ner"], ["report"], ["api"]]
ALSO = {("graph", "kernel"), ("kernel", "opt"), ("graph", "opt"), ("prob", "opt"), ("prob", "kernel"), ("graph", "io")}
LEVEL = {name: i for i, names in enumerate(LAYERS) for name in names}
SHARED_IN_METHODS = {"methods/methods.def", "methods/registry.h"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def problems():
    for path in sorted((ROOT / "src").rglob("*.[ch]")):
        layer = path.relative_to(ROOT / "src").parts[0]
        if layer not in LEVEL:
            yield f"{path.relative_to(ROOT)}: unknown layer '{layer}'"
            continue
        for target in INCLUDE.findall(path.read_text()):
            other = target.split("/")[0]
            if other == "parallax":
                continue
            if other not in LEVEL:
                yield f"{path.relative_to(ROOT)}: includes \"{target}\"; name it from src/"
            elif LEVEL[other] > LEVEL[layer] or (LEVEL[other] == LEVEL[layer] and other != layer and (layer, other) not in ALSO):
                yield f"{path.relative_to(ROOT)}: {layer} may not include {target}"
            elif layer == other == "methods" and target not in SHARED_IN_METHODS and path.parent == ROOT / "src/methods":
                yield f"{path.relative_to(ROOT)}: methods may not include each other ({target})"
    for folder in ("cli", "examples", "include"):
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            for target in INCLUDE.findall(path.read_text()):
                if not target.startswith("parallax/") and not (path.parent / target).exists():
                    yield f"{path.relative_to(ROOT)}: only public headers here, not \"{target}\""
    names = collections.defaultdict(list)
    for folder in ("src", "include", "cli"):
        for path in (ROOT / folder).rglob("*.[ch]"):
            names[path.name].append(str(path.relative_to(ROOT)))
    for name, where in sorted(names.items()):
        if len(where) > 1:
            yield f"file name used twice: {', '.join(sorted(where))}"


found = list(problems())
print("\n".join(found) if found else "includes: all point downwards")
sys.exit(1 if found else 0)
