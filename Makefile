# A thin front to CMake. The first three are what most people want:
#
#   make                       builds into build/
#   make test                  installs what is missing, builds, runs all tests
#   make demo                  installs what is missing, builds, runs the examples
#   make test-c                like test, the C tests only
#   make install DESTDIR= PREFIX=/usr/local
#   make wheel                 a wheel for pip in build/wheels (PYTHON=python3.12: for that one)
#   make deb                   Debian packages in build/deb
#   make libtensorflow         TensorFlow's C interface as an archive that runs on any Linux
#   make dist                  the sources as an archive, the same bits each time
#   make docs                  renews the table of ops in docs/ops.md
#   make docs-site             guide and reference as a site for a browser, from disk: build/site
#   make lint                  whether C, Python and scripts are formatted (tools/check-format --fix)
#   make bench | size | deps | clean
#   make bench-peers           TensorFlow, JAX, ONNX Runtime for `make bench`, into build/bench-peers
#
#   PYTHON=python3.12          builds for that interpreter (tools/find-python chooses else)
#   SANITIZE=address,undefined (or thread) builds with sanitizers; give it a BUILD= of its own
#   PACKAGES=folder            where wheel, deb, libtensorflow and dist put what they make
#   JOBS=2                     how many compilers at a time

# PyTorch is not among them: its package of the registry brings gigabytes for graphics cards along.
PEERS = tensorflow-cpu==2.21.0 jax==0.10.2 onnx==1.23.2 onnxruntime==1.31.1

BUILD ?= build
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
SANITIZE ?=
PYTHON ?=
export PYTHON

QUIET_MAKE := $(if $(findstring s,$(firstword -$(MAKEFLAGS))),,--no-print-directory)
CONFIGURE = tools/configure "$(BUILD)" "-DRHEOS_SANITIZE=$(SANITIZE)" "-DPYTHON=$(PYTHON)"

.PHONY: all build deps test test-c docs docs-site demo install wheel deb libtensorflow dist bench bench-peers size lint clean

all: build
	@echo "built $(BUILD)/bin/rheos, $(BUILD)/lib/librheos.so, $(BUILD)/python/rheos"

build:
	@$(CONFIGURE)
	@tools/build "$(BUILD)" $(JOBS)

deps:
	@tools/install-deps

test: deps
	@$(MAKE) $(QUIET_MAKE) build
	@tools/run-tests "$(BUILD)" c python

test-c: deps
	@$(MAKE) $(QUIET_MAKE) build
	@tools/run-tests "$(BUILD)" c

demo: deps
	@$(CONFIGURE)
	@tools/build "$(BUILD)" $(JOBS) demo
	"$(BUILD)/bin/rheos" run examples/linear_regression.py
	"$(BUILD)/bin/rheos" run examples/layers.py
	"$(BUILD)/bin/textgen"
	"$(BUILD)/bin/pipeline"
	"$(BUILD)/bin/call_model"
	"$(BUILD)/bin/rheos" run examples/cluster.py

install: build
	@DESTDIR="$(DESTDIR)" cmake --install "$(BUILD)" --prefix "$(PREFIX)" >"$(BUILD)/install.log"
	@echo "installed into $(DESTDIR)$(PREFIX)"

wheel: deps
	@tools/install-deps python3-venv
	@tools/build-wheel "$(or $(PACKAGES),$(BUILD)/wheels)" $(PYTHON)

deb: deps
	@tools/install-deps debhelper dh-python lintian
	@tools/build-deb "$(or $(PACKAGES),$(BUILD)/deb)"

libtensorflow: deps
	@tools/install-deps patchelf
	@tools/build-libtensorflow "$(or $(PACKAGES),$(BUILD)/libtensorflow-archive)"

dist:
	@tools/dist "$(or $(PACKAGES),$(BUILD))"

docs-site: build
	@tools/install-deps python3-sphinx python3-myst-parser furo
	@/usr/bin/python3 tools/site/make "$(BUILD)"

docs:
	@$(CONFIGURE)
	@tools/build "$(BUILD)" $(JOBS) docs

bench: build
	@if [ -x bench/run ]; then bench/run "$(BUILD)"; else echo "there is no bench/run"; fi

bench-peers:
	@python3 -m venv "$(BUILD)/bench-peers"
	@tools/try-again "bench-peers: pip install" "$(BUILD)/bench-peers/bin/pip" install $(PEERS)
	@python3 -c "import torch" 2>/dev/null || echo "PyTorch is not installed: Debian has python3-torch"

size:
	@tools/size "$(BUILD)"

lint:
	@tools/check-format

clean:
	@rm -rf "$(BUILD)"
