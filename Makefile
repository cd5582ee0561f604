# attune: `make` builds build/attune, `make demo` shows what it does. All work is CMake's; this file only names it.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SHAPES ?=

.PHONY: all build demo test sanitize sanitize-memory sanitize-threads bench prove install format clean
all: build

# Configures once; ninja calls CMake again by itself when a CMake file or the list of sources changes.
define build_preset
	@test -f $(2)/build.ninja || cmake --preset $(1)
	@cmake --build --preset $(1) -j $(JOBS) $(3)
endef

bootstrap = @tools/bootstrap

build:
	$(bootstrap)
	$(call build_preset,release,build)

# The program alone: whoever wants to see what it does need not wait for the tests.
demo:
	$(bootstrap)
	$(call build_preset,release,build,--target attune_program)
	@build/attune demo

test: build
	@ctest --preset release -j $(JOBS)

# Both: what is wrong with memory and arithmetic, then data races. ONLY='Trust*:File*': these
# tests alone, by a filter of GoogleTest.
sanitize: sanitize-memory sanitize-threads
sanitize-memory:
	$(bootstrap)
	$(call build_preset,asan,build-asan)
	@ATTUNE_ONLY='$(ONLY)' ctest --preset asan -j $(JOBS)
# ThreadSanitizer wants a fixed address layout on newer kernels: setarch -R gives it one where that is allowed.
fixed_layout = $$(setarch -R true 2>/dev/null && echo setarch -R)
sanitize-threads:
	$(bootstrap)
	$(call build_preset,tsan,build-tsan)
	@ATTUNE_ONLY='$(ONLY)' $(fixed_layout) ctest --preset tsan -j $(JOBS)

# The laboratory compares each kernel with its naive form, oneDNN and OpenBLAS; the program needs neither library.
bench:
	@tools/bootstrap
	@tools/bootstrap laboratory
	@cmake --preset release -DATTUNE_LABORATORY=ON >/dev/null
	@cmake --build --preset release -j $(JOBS)
	@build/laboratory --compare
	@build/attune bench gemm $(if $(SHAPES),--shapes $(SHAPES))
	@build/attune bench attention

prove:
	@tools/prove $(if $(ALL),--all) $(if $(DATA),--data $(DATA))

install: build
	@cmake --install build --prefix $(PREFIX)

format:
	@git ls-files '*.h' '*.cc' | xargs clang-format -i

clean:
	@rm -rf build build-debug build-asan build-tsan
