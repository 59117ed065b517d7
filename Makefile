# SPDX-License-Identifier: Apache-2.0
#
# A thin front of CMake: the common things in one word. Everything lands in build/.
#
#   make            the library and build/hbg, optimised
#   make demo       set-up, a quiet build, then two verified workloads
#   make test       set-up, a build with debug checks, every test
#   make sanitize   every test under ASan and UBSan, the concurrent ones under TSan
#   make bench      every benchmark, beside the other runtimes that are installed: build/bench.json, and plots in build/bench
#   make deb        build/hbg_VERSION_ARCHITECTURE.deb, a Debian package of library, headers and command
#   make clean

JOBS ?= $(shell nproc)
CONCURRENT = ^(backend|stress|sched|core|atomic|run)$$
CTEST = ctest --output-on-failure --no-tests=error -j$(JOBS)

.PHONY: all setup demo test sanitize asan tsan bench deb clean

all:
	@{ command -v cmake && command -v ninja; } > /dev/null || { echo "cmake or ninja is missing: scripts/setup.sh installs what is needed" >&2; exit 1; }
	@cmake --preset release > /dev/null
	@cmake --build --preset release -j$(JOBS)

setup:
	@scripts/setup.sh

# On a device with memory of its own, so that what is sent to it can be seen.
demo: setup
	@echo "building hbg: the first time that takes about a minute of processor time; build/demo.log says how far it is"
	@mkdir -p build
	@$(MAKE) --no-print-directory all > build/demo.log 2>&1 || { cat build/demo.log >&2; exit 1; }
	build/hbg run gp --verify --device cpu:memory=discrete
	@echo
	build/hbg run bgemm --verify --device cpu:memory=discrete --trace build/demo.trace

test: setup
	cmake --preset test
	cmake --build --preset test -j$(JOBS)
	cd build/test && $(CTEST)

asan: setup
	cmake --preset asan
	cmake --build --preset asan -j$(JOBS)
	cd build/asan && $(CTEST)

tsan: setup
	cmake --preset tsan
	cmake --build --preset tsan -j$(JOBS)
	cd build/tsan && $(CTEST) -L '$(CONCURRENT)'

sanitize:
	@$(MAKE) --no-print-directory asan
	@$(MAKE) --no-print-directory tsan

# OpenBLAS takes its oldest kernels on a processor that it does not know; OPENBLAS_CORETYPE in the environment is left alone
BLAS = $(if $(OPENBLAS_CORETYPE),,$$(build/hbg info | grep -q 'kernels for Prescott' && grep -qw avx2 /proc/cpuinfo && echo OPENBLAS_CORETYPE=Haswell))

bench: all
	@cmake --build build -j$(JOBS) --target bench-rivals > build/bench.log 2>&1 || { cat build/bench.log >&2; exit 1; }
	env $(BLAS) build/hbg bench all --rivals --json build/bench.json
	@command -v python3 > /dev/null || { echo "python3 is missing: no plots" >&2; exit 1; }
	@scripts/plot_bench.py build/bench.json build/bench

deb:
	@{ command -v dpkg-shlibdeps && command -v file; } > /dev/null || { echo "dpkg-shlibdeps or file is missing: apt-get install dpkg-dev file" >&2; exit 1; }
	cmake --preset deb > /dev/null
	cmake --build --preset deb -j$(JOBS)
	cd build/deb && cpack -G DEB -B ..

clean:
	rm -rf build
