#!/bin/sh
# Seconds before a commit: formatting of what is staged, sizes, directions of includes. To have git run it:
#   ln -s ../../tools/pre-commit.sh .git/hooks/pre-commit
set -eu
cd "$(git rev-parse --show-toplevel)"
files=$(git diff --cached --name-only --diff-filter=ACMR -- '*.c' '*.h')
# shellcheck disable=SC2086
[ -z "$files" ] || clang-format --dry-run -Werror $files || { echo "pre-commit: run 'make format'" >&2; exit 1; }
git diff --cached --check
python3 tools/check_sizes.py
python3 tools/check_includes.py
