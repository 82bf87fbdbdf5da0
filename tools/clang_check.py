#!/usr/bin/env python3
"""Compiles src/ and cli/ with clang, warnings as errors and no output: seconds, where a second build takes minutes.
Usage: clang_check.py BUILD_DIR     a configured build; its compile_commands.json says how"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = (str(ROOT / "src") + os.sep, str(ROOT / "cli") + os.sep)


def command(entry):
    words = shlex.split(entry["command"])
    while not pathlib.Path(words[0]).name.startswith(("gcc", "cc", "clang", "x86_64", "aarch64")):
        words.pop(0)  # a compiler launcher
    out = ["clang", "-fsyntax-only", "-Werror"]
    words = iter(words[1:])
    for word in words:
        if word == "-o":
            next(words)
        elif word not in ("-c", "-Werror"):
            out.append(word)
    return out


def check(entry):
    run = subprocess.run(command(entry), cwd=entry["directory"], capture_output=True, text=True)
    return run.stderr if run.returncode else ""


def main():
    entries = {e["file"]: e for e in json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text())
               if e["file"].startswith(FOLDERS)}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [text for text in pool.map(check, entries.values()) if text]
    print("\n".join(found) if found else f"clang: {len(entries)} files without a warning")
    return 1 if found or not entries else 0


sys.exit(main())
