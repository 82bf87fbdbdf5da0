# A thin front: CMake does the work. `make help` lists the targets.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
CTEST = ctest --output-on-failure -j $(JOBS) --test-dir
export PLX_WERROR ?= OFF

.PHONY: help setup build demo test python-test python-nightly python-wheel python-docs ci check-full build-mpi test-mpi test-mpi-quick bench reproduce install lint format docs clean

help:
	@echo "make demo        set up, build, and show what Parallax does (a few minutes)"
	@echo "make test        set up, build, and run all tests"
	@echo "make build       the command at build/release/parallax, the library beside it"
	@echo "make ci          what must pass before a change lands: format, tests, clang, static build"
	@echo "make python-test     all tests of the Python package; python-nightly: with 10,000 fits"
	@echo "make python-wheel    a wheel for every Python from 3.10 on, tested in an empty environment"
	@echo "make python-docs     the site of the package, from the same pages (build/python/docs)"
	@echo "make install     install (PREFIX=/usr/local)"
	@echo "make check-full  tests plus long fuzzing, thread sanitizer, valgrind, static analysis, coverage"
	@echo "make test-mpi    build parallax-mpi and compare fits over ranks and threads with those of one process (MPI_RANKS=\"1 2 3 5 8\")"
	@echo "make test-mpi-quick  the part of it that make ci runs"
	@echo "make bench       benchmarks against limits and peers"
	@echo "make reproduce   published figures beside ours into docs/results.md, part by part (needs the data sets in the folder \$$PARALLAX_DATA)"
	@echo "make reproduce-METHOD  the same for one method that has published figures, e.g. reproduce-mvkmeans"
	@echo "make docs        write the generated halves of docs/methods"

setup:
	@echo "== setting up"
	@tools/setup.sh

build: setup
	@echo "== building (release)"
	@cmake --preset release >/dev/null
	@cmake --build build/release -j $(JOBS) --target parallax parallax-cli parallax-cli-texts

demo: build
	@echo "== demo"
	@tools/demo.sh build/release/parallax

test: build
	@echo "== building the tests (release)"
	@cmake --build build/release -j $(JOBS)
	@echo "== building (with AddressSanitizer and UBSan)"
	@cmake --preset asan >/dev/null
	@cmake --build build/asan -j $(JOBS)
	@tools/python_env.sh build/venv
	@tools/python_test.sh environment build/release
	@echo "== testing (release)"
	@$(CTEST) build/release -LE contract
	@echo "== testing (AddressSanitizer and UBSan)"
	@$(CTEST) build/asan -LE 'cli|install|interop|readme'

python-test: build
	@tools/python_test.sh full build/release

python-nightly: build
	@tools/python_test.sh nightly build/release

python-wheel: setup
	@tools/python_wheel.sh

python-docs: build
	@tools/python_docs.sh build/release

ci:
	@.ci/run

check-full: setup
	@tools/setup.sh full
	@tools/check_full.sh

MPI_RANKS ?= 1 2 3 5 8
test-mpi: setup
	@tools/setup.sh mpi
	@$(MAKE) -s build-mpi
	@tests/mpi/table.sh build/release $(MPI_RANKS)
	@tests/mpi/command.sh build/release $(MPI_RANKS)
	@tests/mpi/run_hosts.sh build/release

# For every change: fewer samples and ranks, one thread, and a method for each way of dividing.
test-mpi-quick: build-mpi
	@SAMPLES=70000 THREADS=1 METHODS="nb coem mvkmeans mvplsa svm laprls bct lapreg spectral" tests/mpi/table.sh build/release 2 3
	@SAMPLES=70000 tests/mpi/command.sh build/release 3

# All but parallax-mpi itself is what `make build` compiles.
build-mpi:
	@echo "== building parallax-mpi (release)"
	@PLX_MPI=ON cmake --preset release >/dev/null
	@cmake --build build/release -j $(JOBS) --target parallax-cli parallax-mpi parallax-reader plx-mpi-sums

bench: setup
	@tools/setup.sh full
	@bench/run.sh

reproduce: build
	@tools/reproduce.sh build/release/parallax

reproduce-%: build
	@tools/reproduce_one.sh $* build/release/parallax

install: build
	@cmake --install build/release --prefix $(or $(PREFIX),/usr/local)

lint:
	@tools/setup.sh full
	@tools/lint.sh

format:
	@clang-format -i $$(git ls-files '*.c' '*.h' '*.cu' 'gpu/emulate/*.cc')

docs: build
	@python3 tools/gen_docs.py build/release/parallax
	@python3 tools/gen_api_docs.py

clean:
	@rm -rf build
