#!/usr/bin/env python3
"""Lays out the pages of the site: the guide and methods as they are, an API reference, and the gallery, which is run.

usage: gen_python_site.py OUT      (with the parallax package on PYTHONPATH)

OUT/docs gets the pages, OUT/mkdocs.yml the settings for `mkdocs build`. A script that fails is an error.
"""
import ast
import contextlib
import inspect
import io
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
GALLERY = ["few_labels", "missing_views", "which_view_to_trust", "clustering", "cross_lingual_search",
           "what_to_measure_next", "names_in_text", "explaining", "comparing_methods", "what_views_are_worth"]
VERBS = ["compare", "Comparison", "tune", "Tuning", "views", "ViewReport", "Report", "doctor"]
MODULES = ["datasets", "metrics", "acquire", "explain", "retrieval", "ner", "preprocessing", "progress"]
SETTINGS = """site_name: Parallax
site_description: Learning from samples that several views describe, some of them missing
docs_dir: docs
site_dir: ../docs
theme:
  name: readthedocs
markdown_extensions:
  - tables
  - fenced_code
  - toc
validation:
  links:
    not_found: info
    unrecognized_links: info
nav:
  - Home: README.md
  - Guide:
{guide}
  - Methods: methods/README.md
  - Gallery:
{gallery}
  - Python API:
{reference}
  - C API: api/README.md
"""


def title_of(page):
    return re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), re.M)[1]


# ---- gallery ----

def run_script(path, picture):
    """What a script prints; its last figure is saved."""
    import matplotlib
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    out = io.StringIO()
    plt.close("all")
    with contextlib.redirect_stdout(out):
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), {"__name__": "__main__"})
    plt.tight_layout()
    plt.savefig(picture, dpi=100)
    return out.getvalue()


def gallery_page(name, folder):
    path = ROOT / "python/gallery" / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    first, _, rest = ast.get_docstring(ast.parse(text)).partition("\n")
    printed = run_script(path, folder / f"{name}.png")
    code = text.split('"""', 2)[2].strip()
    page = f"# {first.rstrip('.')}\n\n{rest.strip()}\n\n![{name}]({name}.png)\n\n```python\n{code}\n```\n\nIt prints:\n\n```text\n" \
           f"{printed.strip()}\n```\n"
    (folder / f"{name}.md").write_text(page, encoding="utf-8")


# ---- reference ----

def signature(thing):
    try:
        return str(inspect.signature(thing))
    except (TypeError, ValueError):
        return "(...)"


def entry(name, thing, level):
    words = inspect.getdoc(thing) or ""
    words = re.sub(r"^(Parameters|Attributes|References)\n-+$", r"**\1**\n", words, flags=re.M)
    words = re.sub(r"^(\w+) : (.*)\n((?:    .*\n?)+)", lambda m: f"* `{m[1]}`: {m[2]}. {' '.join(m[3].split())}\n", words,
                   flags=re.M)
    head = f"{'#' * level} {name}\n\n"
    if not inspect.isclass(thing):
        head += f"`{name}{signature(thing)}`\n\n"
    return head + words + "\n"


def methods_of(made):
    calls = [(n, f) for n, f in inspect.getmembers(made) if not n.startswith("_") and inspect.isfunction(f)
             and f.__module__.startswith("parallax")]
    return "\n".join(entry(n, f, 3) for n, f in calls)


def reference(folder):
    import parallax

    folder.mkdir()
    for made in parallax.all_estimators():
        (folder / f"{made.__name__}.md").write_text(entry(made.__name__, made, 1) + "\n## Methods\n\n" + methods_of(made),
                                                    encoding="utf-8")
    parts = [entry("Dataset", parallax.Dataset, 1), methods_of(parallax.Dataset)]
    (folder / "Dataset.md").write_text("\n".join(parts), encoding="utf-8")
    (folder / "verbs.md").write_text("# Comparing, tuning, views, reports\n\n" + "\n".join(
        entry(f"parallax.{name}", thing, 2) + (methods_of(thing) if inspect.isclass(thing) else "")
        for name, thing in ((name, getattr(parallax, name)) for name in VERBS)), encoding="utf-8")
    for name in MODULES:
        module = getattr(parallax, name)
        own = [(n, t) for n, t in inspect.getmembers(module) if not n.startswith("_")
               and getattr(t, "__module__", "") == module.__name__ and callable(t)]
        text = entry(f"parallax.{name}", module, 1).replace(f"`parallax.{name}(...)`\n\n", "")
        (folder / f"{name}.md").write_text(text + "\n" + "\n".join(entry(n, t, 2) for n, t in own), encoding="utf-8")
    rows = [f"* [{m.__name__}]({m.__name__}.md): {m.method.title}" for m in parallax.all_estimators()]
    (folder / "estimators.md").write_text("# Estimators\n\n" + "\n".join(rows) + "\n", encoding="utf-8")


def main():
    out = pathlib.Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(ROOT / "docs", out / "docs")
    shutil.copy(ROOT / "CHANGELOG.md", out / "docs/CHANGELOG.md")
    reference(out / "docs/python")
    (out / "docs/gallery").mkdir()
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    for name in GALLERY:
        gallery_page(name, out / "docs/gallery")
    guide = sorted((out / "docs/guide").glob("*.md"), key=lambda p: (p.stem != "get-started", p.stem))
    lines = {"guide": [f"    - {title_of(p)!r}: guide/{p.name}" for p in guide],
             "gallery": [f"    - {title_of(out / f'docs/gallery/{n}.md')!r}: gallery/{n}.md" for n in GALLERY],
             "reference": ["    - python/estimators.md", "    - python/Dataset.md", "    - python/verbs.md"] +
                          [f"    - python/{n}.md" for n in MODULES]}
    (out / "mkdocs.yml").write_text(SETTINGS.format(**{k: "\n".join(v) for k, v in lines.items()}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
