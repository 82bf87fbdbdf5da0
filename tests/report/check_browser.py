#!/usr/bin/env python3
"""Reports of every verb in a headless Chromium: check_browser.py PARALLAX [DIRECTORY for screenshots]

Light and dark, 360 and 1600 pixels wide, and in print: nothing complains, nothing is fetched, no name of the data becomes
markup, all figures are drawn, nothing is wider than the page, tables are sorted by a click.
Exit 77: no browser here ($PARALLAX_BROWSER names one), or no report in this build."""
import pathlib
import subprocess
import sys
import tempfile

import browser
import hostile

FIGURES = {"fit": 7, "auto": 6, "clusters": 5, "explain": 10, "views": 6, "compare": 4, "acquire": 1}  # at least


def commands(data, out):
    def html(name):
        return ["--report", out / f"{name}.html"]

    yield ["fit", "coem", data, "--labels", "5", "--model", out / "m.plx", *html("fit")]
    yield ["fit", "auto", data, "--labels", "5", *html("auto")]
    yield ["fit", "mvkmeans", data, "--set", "clusters=3", *html("clusters")]
    yield ["explain", out / "m.plx", data, "--sample", f"{hostile.MARK}4", *html("explain")]
    yield ["views", data, *html("views")]
    yield ["compare", data, "--methods", "svm,coem,cca", "--labels", "3,6", "--repeats", "3", *html("compare")]
    yield ["acquire", "labels", data, "--with", "coem", "--simulate", "5", "--labels", "2", "--runs", "3", *html("acquire")]


def complain(problems, b, name, where):
    problems += [f"{name}, {where}: {text}" for text in b.complaints()]
    if b.value("window.hacked") is not None:
        problems.append(f"{name}, {where}: a name of the data ran as a program")
    if b.value("document.querySelectorAll('main img, main script, main b, main iframe').length"):
        problems.append(f"{name}, {where}: a name of the data became an element")
    wide, room = b.value("document.documentElement.scrollWidth"), b.value("document.documentElement.clientWidth")
    if wide > room:
        problems.append(f"{name}, {where}: {wide} pixels wide")


def look(problems, b, path, shots):
    name = path.stem
    for width in (360, 1600):
        for dark in (False, True):
            where = f"{width} px, {'dark' if dark else 'light'}"
            b.open(path, width, dark=dark)
            complain(problems, b, name, where)
            drawn = b.value("document.querySelectorAll('main figure svg').length")
            empty = b.value("[...document.querySelectorAll('main figure svg')].filter((s) => s.querySelectorAll('circle,path,rect,line,text').length < 2).length")
            if drawn < FIGURES[name] or empty:
                problems.append(f"{name}, {where}: {drawn} figures, {empty} of them empty")
            if b.value("[...document.querySelectorAll('figure')].filter((f) => !f.querySelector('figcaption').textContent.trim()).length"):
                problems.append(f"{name}, {where}: a figure without words")
            page, ink = (b.value(f"getComputedStyle(document.body).{p}") for p in ("backgroundColor", "color"))
            if (sum(map(int, page[4:-1].split(","))) < 384) != dark or page == ink:
                problems.append(f"{name}, {where}: {ink} on {page}")
            if shots:
                b.shot(shots / f"{name}-{width}-{'dark' if dark else 'light'}.png")
    b.open(path, 800, dark=True, media="print")
    if b.value("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)":
        problems.append(f"{name}, print: dark")
    complain(problems, b, name, "print")


def sort_tables(problems, b, path):
    """A click on a heading of numbers puts the largest first, a second one the smallest."""
    b.open(path, 1200)
    column = "[...document.querySelectorAll('table')].find((t) => t.tHead.textContent.includes('precision'))"
    values = f"[...{column}.tBodies[0].rows].map((r) => parseFloat(r.cells[2].textContent))"
    for expected in (True, False):
        b.value(f"{column}.tHead.rows[0].cells[2].querySelector('button').click()")
        found = b.value(values)
        if found != sorted(found, reverse=expected):
            problems.append(f"a table is not sorted: {found}")


def main():
    path = browser.find()
    if not path:
        print("skipped: no Chromium here")
        return 77
    shots = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        hostile.write(out / "data")
        for words in commands(out / "data", out):
            done = subprocess.run([PARALLAX, *map(str, words), "--quiet"], capture_output=True, text=True)
            if "this build has no HTML report" in done.stderr:
                print("skipped: this build has no report")
                return 77
            assert done.returncode == 0, (words, done.stderr)
        b = browser.Browser(path)
        try:
            for page in sorted(out.glob("*.html")):
                look(problems, b, page, shots)
            sort_tables(problems, b, out / "fit.html")
        finally:
            b.close()
    print("\n".join(problems) if problems else "pages: nothing to complain about")
    return 1 if problems else 0


PARALLAX = str(pathlib.Path(sys.argv[1]).resolve())
sys.exit(main())
