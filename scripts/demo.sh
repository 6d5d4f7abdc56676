#!/usr/bin/env bash
# The demonstration: builds assay and lets it find out whether the store that is built into it keeps
# its promises. Exit 0: the honest store passed, and the planted defect was found.
set -euo pipefail
cd "$(dirname "$0")/.."

# As tests are built, without the long optimisation of a release: `make test` then has the
# dependencies already, and a demonstration mostly waits for what it has done to a system.
echo "building (some minutes the first time) ..." >&2
cargo build --quiet -p assay
assay=${CARGO_TARGET_DIR:-target}/debug/assay

started=$SECONDS
status=0
"$assay" demo --sessions target/demo || status=$?
echo "demo: exit code $status after $((SECONDS - started)) s" >&2
exit "$status"
