#!/bin/sh
# Static checks: formatting, clang-tidy, cppcheck, sizes. Needs build/release (for compile_commands.json).
set -u
cd "$(dirname "$0")/.."
failed=0
say() { printf '== %s\n' "$*"; }

say "formatting"
# shellcheck disable=SC2046
clang-format --dry-run -Werror $(git ls-files 'src/*.c' 'src/*.h' 'cli/*.c' 'cli/*.h' 'include/*.h' 'examples/*.c') >build/format.log 2>&1 ||
    { echo "run 'make format' ($(grep -c 'warning:\|error:' build/format.log) places)"; failed=1; }

say "cppcheck"
cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 \
    --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches --suppress=unknownMacro -Iinclude -Isrc src cli || failed=1

say "clang-tidy"
# shellcheck disable=SC2046
clang-tidy --quiet -p build/release $(git ls-files 'src/*.c' 'cli/*.c') >build/tidy.log 2>/dev/null
if grep -q 'warning:\|error:' build/tidy.log; then
    grep 'warning:\|error:' build/tidy.log | sort -u | head -40
    failed=1
fi

say "sizes (files <= 600 lines, functions <= 100)"
find src cli include -name '*.[ch]' ! -name '*_table.h' -exec wc -l {} + | awk '$2 != "total" && $1 > 600 {print $2 ": " $1 " lines"; bad = 1} END {exit bad}' || failed=1
exit $failed
