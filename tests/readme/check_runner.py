#!/usr/bin/env python3
"""The runner of the documentation must notice what is wrong: a test of run_readme.py itself."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import run_readme  # noqa: E402


def failures(text, data=""):
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "page.md")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return run_readme.run_file(path, scratch, scratch, dict(os.environ, PARALLAX_DATA=data or scratch))


def expect(name, found, wanted):
    if found != wanted:
        sys.exit("{}: {} failures, expected {}".format(name, found, wanted))


def main():
    expect("right output", failures("```sh run\necho a b c\n```\n\n```text\na ... c\n```\n"), 0)
    expect("wrong output", failures("```sh run\necho a b c\n```\n\n```text\na ... d\n```\n"), 1)
    expect("output that goes on", failures("```sh run\necho a; echo b\n```\n\n```text\na\n```\n"), 1)
    expect("lines left out", failures("```sh run\nseq 5\n```\n```text\n1\n...\n5\n```\n"), 0)
    expect("a point is a point", failures("```sh run\necho 1x5\n```\n```text\n1.5\n```\n"), 1)
    expect("exit status", failures("```sh run\nfalse\ntrue\n```\n"), 1)
    expect("not marked", failures("```sh\nfalse\n```\n"), 0)
    expect("data that is not there", failures("```sh run needs=nothing\nfalse\n```\n"), 0)
    expect("state is kept", failures("```sh run\necho 1 >f\n```\ntext\n```sh run\ncat f\n```\n```text\n1\n```\n"), 0)
    expect("a text far away", failures("```sh run\necho 1\n```\n\nwords\n\nwords\n\n```text\n2\n```\n"), 0)
    print("run_readme.py notices what it should")


if __name__ == "__main__":
    main()
