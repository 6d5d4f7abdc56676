#!/usr/bin/env bash
# Checks two bundled histories: one that keeps its promise and one that breaks it.
# Fails unless `assay` tells them apart with exactly the exit codes it documents.
set -euo pipefail
cd "$(dirname "$0")/.."

out=target/demo
report=$out/report.html
mkdir -p "$out"
rm -f "$report"
cargo build --release --quiet -p assay
assay=${CARGO_TARGET_DIR:-target}/release/assay

# Runs `assay check …` and insists on its exit code.
expect() {
    local wanted=$1 got=0
    shift
    echo
    echo "\$ assay $*"
    "$assay" "$@" || got=$?
    echo "(exit code $got)"
    if [ "$got" -ne "$wanted" ]; then
        echo "demo: expected exit code $wanted, got $got" >&2
        exit 70
    fi
}

expect 0 check examples/histories/register-upheld.jsonl --model register
expect 1 check examples/histories/register-refuted.jsonl --model register --html "$report"

if ! [ -s "$report" ]; then
    echo "demo: $report was not written" >&2
    exit 70
fi
echo
echo "The timeline of the broken promise is in $report: open it in a browser."
