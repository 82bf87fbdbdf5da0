#!/usr/bin/env python3
"""Runs what the documentation shows, so that it stays true.

Usage: run_readme.py PARALLAX BUILD_DIR SOURCE_DIR [FILE.md...]

Fenced blocks are marked in the line that opens them:

    ```sh run            a script: runs with `parallax` on the PATH
    ```sh run needs=A,B  the same, skipped when $PARALLAX_DATA has no directory A or B
    ```sh run needs=report  the same, skipped where the build has no page for reports
    ```c run             a whole program: compiled against the build and run
    ```c body            statements: put into a main() that has a context `ctx` and a function check()
    ```text              right behind a block that runs: what it prints, both streams

The blocks of a file run in order in one scratch directory. In a text block `...` stands for any text inside a line and, alone on
a line, for any number of lines. A block that is not run may have any other mark.
"""
import os
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(.*)$")
LIMIT = 300     # seconds per block

BODY = """#include <parallax/parallax.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(plx_context *ctx, plx_status status)
{
    if (status == PLX_OK) return;
    fprintf(stderr, "%%s: %%s\\n", plx_status_name(status), plx_context_error(ctx));
    exit(1);
}

int main(void)
{
    plx_context *ctx = NULL;
    if (plx_context_create(&ctx, NULL) != PLX_OK) return 1;
    check(ctx, PLX_OK);
#line %d "%s"
%s
    plx_context_destroy(ctx);
    return 0;
}
"""


class Block:
    def __init__(self, mark, line):
        self.words, self.line, self.text, self.expected = mark.split(), line, "", None

    def runs(self):
        return len(self.words) > 1 and self.words[0] in ("sh", "c") and self.words[1] in ("run", "body")

    def needs(self):
        return [n for w in self.words[2:] if w.startswith("needs=") for n in w[6:].split(",")]


def blocks_of(path):
    """All fenced blocks; a text block that follows one that runs becomes its expected output."""
    found, current, last_end = [], None, -9
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            fence = FENCE.match(line.rstrip("\n"))
            if current is None and fence:
                current = Block(fence.group(1), number)
            elif current is not None and fence and not fence.group(1):
                follows = found and found[-1].runs() and found[-1].expected is None and current.line - last_end <= 3
                if current.words == ["text"] and follows:
                    found[-1].expected = current.text
                else:
                    found.append(current)
                    last_end = number
                current = None
            elif current is not None:
                current.text += line
    if current is not None:
        sys.exit("{}:{}: block without an end".format(path, current.line))
    return found


def pattern_of(expected):
    """Regular expression of an output block; blanks at the end of a line do not count."""
    parts = []
    for line in expected.rstrip("\n").split("\n"):
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*?".join(re.escape(piece) for piece in line.rstrip().split("...")) + r"\n")
    return re.compile("".join(parts) + r"\Z")


def matches(expected, output):
    tidy = "".join(line.rstrip() + "\n" for line in output.rstrip("\n").split("\n"))
    return pattern_of(expected).match(tidy) is not None


def compile_c(block, path, build, source, scratch):
    program = os.path.join(scratch, "block{}".format(block.line))
    text = block.text if block.words[1] == "run" else BODY % (block.line + 1, path, block.text)
    with open(program + ".c", "w", encoding="utf-8") as f:
        f.write(text)
    argv = [os.environ.get("CC", "cc"), "-std=c17", "-Wall", "-Wextra", "-Werror", "-I" + os.path.join(source, "include"),
            "-I" + os.path.join(build, "include"), program + ".c", "-o", program, "-L" + build, "-lparallax", "-lm",
            "-Wl,-rpath," + build]
    return argv, [program]


def run(argv, scratch, environment):
    done = subprocess.run(argv, cwd=scratch, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=LIMIT)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def run_block(block, path, build, source, scratch, environment):
    """None when all is well, else what is wrong."""
    if block.words[0] == "c":
        compiler, argv = compile_c(block, path, build, source, scratch)
        code, output = run(compiler, scratch, environment)
        if code:
            return "does not compile:\n" + output
    else:
        argv = ["sh", "-euc", block.text]
    code, output = run(argv, scratch, environment)
    if code:
        return "exit status {}:\n{}".format(code, output)
    if block.expected is not None and not matches(block.expected, output):
        return "other output.\n--- expected\n{}--- found\n{}".format(block.expected, output)
    return None


def run_file(path, build, source, environment):
    failed, ran, skipped = 0, 0, 0
    data = environment["PARALLAX_DATA"]
    with tempfile.TemporaryDirectory() as scratch:
        for block in blocks_of(path):
            if not block.runs():
                continue
            if "report" in block.needs() and not os.path.getsize(os.path.join(build, "report_page.html")):
                print("{}:{}: skipped, this build has no report".format(path, block.line))
                skipped += 1
                continue
            absent = [n for n in block.needs() if n != "report" and not os.path.isdir(os.path.join(data, n))]
            if absent:
                print("{}:{}: skipped, {} is not in {}".format(path, block.line, ", ".join(absent), data))
                skipped += 1
                continue
            ran += 1
            try:
                fault = run_block(block, path, build, source, scratch, environment)
            except subprocess.TimeoutExpired:
                fault = "did not end within {} s".format(LIMIT)
            if fault:
                failed += 1
                print("{}:{}: {}".format(path, block.line, fault))
    print("{}: {} blocks ran, {} skipped, {} failed".format(path, ran, skipped, failed))
    return failed


def documents(source):
    found = [os.path.join(source, "README.md")]
    for folder in ("guide", "methods"):
        directory = os.path.join(source, "docs", folder)
        found += [os.path.join(directory, n) for n in sorted(os.listdir(directory)) if n.endswith(".md")]
    return found


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    parallax, build, source = (os.path.abspath(p) for p in sys.argv[1:4])
    environment = dict(os.environ, PATH=os.path.dirname(parallax) + os.pathsep + os.environ["PATH"], LC_ALL="C.UTF-8")
    environment["PARALLAX_DATA"] = os.path.abspath(os.environ.get("PARALLAX_DATA") or os.path.join(source, "..", "shared", "data"))
    failed = sum(run_file(path, build, source, environment) for path in sys.argv[4:] or documents(source))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
