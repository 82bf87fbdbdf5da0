#!/bin/sh
# Static checks: formatting and sizes; without "quick" also cppcheck and clang-tidy, which take minutes and need
# build/release (for compile_commands.json).
#   tools/lint.sh [quick]
set -u
cd "$(dirname "$0")/.."
mkdir -p build
failed=0
say() { printf '== %s\n' "$*"; }

say "formatting"
# shellcheck disable=SC2046
clang-format --dry-run -Werror $(git ls-files 'src/*.c' 'src/*.h' 'lazy/*.c' 'lazy/*.h' 'cli/*.c' 'cli/*.h' 'include/*.h' 'examples/*.c' 'tests/*.c' 'tests/*.h' 'bench/*.c' 'gpu/*.cu' 'gpu/*.h' 'gpu/check/*' 'gpu/emulate/*') >build/format.log 2>&1 ||
    { echo "run 'make format' ($(grep -c 'warning:\|error:' build/format.log) places)"; failed=1; }

say "prose"
# shellcheck disable=SC2046
python3 tools/wrap_prose.py --check $(git ls-files '*.md') || failed=1

say "sizes"
python3 tools/check_sizes.py || failed=1
[ "${1:-}" != quick ] || exit $failed

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
exit $failed
