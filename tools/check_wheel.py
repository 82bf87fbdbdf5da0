#!/usr/bin/env python3
"""What a wheel brings along must be free to pass on: check_wheel.py FILE.whl

Every library that was copied into it is compared with the list of docs/dev/dependencies.md, its table "In the wheel";
the extension must be one for all Pythons (abi3); and no library may ask the Fortran runtime for more than our stand-in
has (python/wheel/fortran_runtime.c).
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs/dev/dependencies.md"


def allowed():
    text = PAGE.read_text(encoding="utf-8")
    section = text.split("## In the wheel", 1)[1].split("\n## ", 1)[0]
    return set(re.findall(r"`(lib[\w.+-]+)`", section))


def fortran(folder):
    """Functions of the Fortran runtime that libraries ask for, and those that are there."""
    asked, there = set(), set()
    for path in pathlib.Path(folder).rglob("*.so*"):
        for line in subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=True).stdout.splitlines():
            found = re.search(r" ([A-Z]) (_gfortran_\w+)", line)
            if found:
                (asked if found[1] == "U" else there).add(found[2])
    return asked, there


def main():
    wheel = pathlib.Path(sys.argv[1])
    names = zipfile.ZipFile(wheel).namelist()
    brought = {pathlib.Path(n).name for n in names if ".libs/" in n and not n.endswith("/")}
    known = allowed() | set(re.findall(r"^\| `(lib[\w.+-]+)`", PAGE.read_text(encoding="utf-8"), re.M))
    stems = {re.split(r"-[0-9a-f]{8}|\.so", n)[0]: n for n in brought}
    unknown = [name for stem, name in stems.items() if not any(stem == k or stem.startswith(k + "-") for k in known)]
    faults = [f"{name} is not in {PAGE.name}: look at its licence, then add it" for name in unknown]
    if "-abi3-" not in wheel.name or not any(n.endswith(".abi3.so") for n in names):
        faults.append(f"{wheel.name}: the extension is not one for all Pythons")
    if "manylinux" not in wheel.name:
        faults.append(f"{wheel.name}: not self-contained")
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        asked, there = fortran(folder)
    faults += [f"{name} of the Fortran runtime is asked for; add it to fortran_runtime.c" for name in sorted(asked - there)]
    print("\n".join(faults) or f"{wheel.name}: {wheel.stat().st_size / 2**20:.1f} MiB, {len(brought)} libraries, all free "
          "to pass on")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
