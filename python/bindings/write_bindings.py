#!/usr/bin/env python3
"""Writes the C source of the extension module from the public headers: write_bindings.py OUT.c

cffi compiles every declaration against the header itself, so a binding that does not fit the library is a compiler
error. Nothing is declared by hand but the few functions of glue.h and the two callbacks.
"""
import pathlib
import re
import sys

import cffi

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# In the order of their includes.
HEADERS = ["status", "context", "method", "params", "dataset", "metrics", "model", "generate", "split", "retrieve",
           "complete", "acquire", "explain", "portfolio", "compare", "tune", "view_report", "report", "processor", "ner",
           "ner_tagged"]
GLUE = """
int glue_label_codes(int64_t *codes, const plx_prediction *prediction, const char *const *names, plx_index count);
int glue_watch(plx_context *ctx);
int glue_unwatch(void);
const char *plx_version(void);
extern "Python" int parallax_on_progress(const plx_progress *progress, void *payload);
extern "Python" void parallax_on_log(plx_log_level level, const char *text, void *payload);
"""


def declarations(text):
    """What is left of a header without comments, preprocessor lines and marks."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"^\s*#(?:.*\\\n)*.*$", "", text, flags=re.M)
    text = re.sub(r'extern "C" \{', "", text)
    text = re.sub(r"\bPLX_(API|NODISCARD|EXPERIMENTAL)\b", "", text)
    text = re.sub(r"\A(.*)^\}\s*\Z", r"\1", text, flags=re.S | re.M) if 'extern "C"' not in text else text
    return re.sub(r"= 1u << (\d+)", lambda m: f"= {1 << int(m[1])}", text)


def main():
    builder = cffi.FFI()
    parts = ["typedef int64_t plx_index;"]
    for name in ["matrix", *HEADERS]:
        text = (ROOT / "include/parallax" / f"{name}.h").read_text(encoding="utf-8")
        parts.append(declarations(text).replace("typedef int64_t plx_index;", ""))
    builder.cdef("\n".join(parts) + GLUE)
    builder.set_source("parallax._parallax", '#include "glue.h"\n', py_limited_api=True)
    builder.emit_c_code(sys.argv[1])


if __name__ == "__main__":
    main()
