# Assay's few commands. `make` alone lists them.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test guard bench lint fuzz deps

# Third-party histories with published verdicts, where someone has them at hand: a directory with an
# expected.tsv. Tests and benchmarks that use it say so when it is absent.
export ASSAY_CORPUS ?= $(abspath $(firstword $(wildcard ../*/corpus/porcupine)))
ifeq ($(ASSAY_CORPUS),)
unexport ASSAY_CORPUS
endif

help: ## list these targets
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

demo: ## one claim upheld and one refuted on the built-in store, in two minutes
	@scripts/demo.sh

# What is tested is what is linted: the linter stands in for the compiler, so that nothing is compiled twice.
LINTED = RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings

# Most of what tests do is wait for processes, clocks and disks.
export RUST_TEST_THREADS ?= $(shell echo $$(( $$(nproc) * 3 / 2 )))

test: deps ## everything that must be green: lints, tests, documentation
	cargo fmt --all --check
	$(LINTED) cargo test --workspace --all-targets --no-run
	$(LINTED) cargo test --workspace
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# The main branch before this change; without a name, the commit before the last one.
GUARD_BASE ?= HEAD~1

guard: ## what this change asks less of than what it is built on, and the form of decision records
	cargo run -q -p assay -- adr lint
	cargo run -q -p assay -- guard --base "$(GUARD_BASE)" --head HEAD

lint: ## formatting and clippy, warnings are errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

bench: ## measure checkers, plans, proxies, what each kind of harness does to a system, pages, ledger, desk, guard, sessions and how surely defects are caught
	cargo bench -p assay-check --bench linearizability
	cargo bench -p assay-txn --bench isolation
	cargo bench -p assay-plan --bench plan
	cargo bench -p assay-guard --bench guard
	cargo bench -p assay-nemesis --bench proxy
	cargo bench -p assay-nemesis --bench distortion
	cargo bench -p assay-runner --bench overhead
	cargo bench -p assay-runner --bench report
	cargo bench -p assay-report --bench page
	cargo bench -p assay-ledger --bench resume
	cargo bench -p assay-desk --bench leader
	cargo bench -p assay --bench defects
	cargo bench -p assay --bench sessions
	ASSAY_SERVE_KILLS=50 ASSAY_SERVE_KILLS_POSTGRES=20 cargo test -p assay --test serve killed -- --nocapture
	rm -rf target/plan-assay-server
	@# Without the planted defects, which the tests find, a run is never DONE and ends with 2: what counts is each verdict.
	cargo run -q --release -p assay -- run plans/assay-server.md --tier hardening --scenario S1 --scenario S2 --scenario S3 --scenario S4 --directory target/plan-assay-server --format json > target/plan-assay-server.json || [ $$? = 2 ]
	scripts/holds.py target/plan-assay-server.json S1 S2 S3 S4

fuzz: ## feed every reader with broken input for FUZZ_SECONDS (60) each
	@scripts/fuzz.sh

deps: ## install what the tests need, or say what is missing
	@scripts/install-deps.sh
