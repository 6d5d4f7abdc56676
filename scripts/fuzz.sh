#!/usr/bin/env bash
# Fuzzes every reader of histories, plans and what the guard compares, and every checker, with libFuzzer, on the stable toolchain.
#
#   FUZZ_SECONDS=60    how long each target runs
#   FUZZ_SEED=…        the seed of every target (default: drawn anew, and printed)
#   FUZZ_TARGETS="…"   which targets, by name (default: all)
#
# Exit 0: no target panicked, hung or outgrew its memory. Otherwise the input that did it is kept
# under fuzz/artifacts/ and the line to run it again is printed.
set -euo pipefail
cd "$(dirname "$0")/.."

# Each target and the tokens it is made of. The place to add a target.
TARGETS=(
    "jsonl json"
    "jepsen_json json"
    "jepsen_edn edn"
    "porcupine_log edn"
    "detect json"
    "check json"
    "transactions edn"
    "oracles edn"
    "plan plan"
    "guard_tla tla"
    "guard_cfg tla"
    "guard_rust code"
    "guard_python code"
    "guard_go code"
    "guard_typescript code"
    "guard_java code"
    "guard_markdown plan"
    "guard_workflow code"
    "guard_settings code"
    "adr plan"
)
readonly INPUT_BYTES_MAX=4096
readonly ONE_INPUT_SECONDS_MAX=20
readonly MEMORY_MIB_MAX=2048

seconds=${FUZZ_SECONDS:-60}
seed=${FUZZ_SEED:-$((RANDOM * 32768 + RANDOM + 1))}
wanted=" ${FUZZ_TARGETS:-$(printf '%s\n' "${TARGETS[@]}" | cut -d' ' -f1 | xargs)} "
host=$(rustc -vV | sed -n 's/^host: //p')

# What `cargo fuzz build --sanitizer none` would pass, less what needs a nightly compiler. All of
# it is stable: LLVM's coverage pass is what lets libFuzzer see which inputs reach new code.
flags=(
    --cfg fuzzing
    -Cpasses=sancov-module
    -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0
)
echo "fuzz: targets$wanted for $seconds s each, seed $seed, inputs up to $INPUT_BYTES_MAX bytes" >&2
# Naming the target platform keeps the flags away from build scripts and procedural macros.
CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && echo "${flags[*]}") \
    cargo build --release --manifest-path fuzz/Cargo.toml --target "$host" --bins

# Runs one target; its last words go to `summary`.
summary=()
failed=0
fuzz_one() {
    local name=$1 dictionary=$2 log status=0 executions
    log=fuzz/target/$name.log
    mkdir -p "fuzz/corpus/$name" "fuzz/artifacts/$name"
    local command=(
        "fuzz/target/$host/release/$name"
        "-seed=$seed" "-max_len=$INPUT_BYTES_MAX" "-timeout=$ONE_INPUT_SECONDS_MAX"
        "-rss_limit_mb=$MEMORY_MIB_MAX" "-dict=fuzz/dictionaries/$dictionary.dict"
        "-artifact_prefix=fuzz/artifacts/$name/" -print_final_stats=1
    )
    echo "fuzz: $name …" >&2
    "${command[@]}" "-max_total_time=$seconds" "fuzz/corpus/$name" "fuzz/seeds/$name" \
        >"$log" 2>&1 || status=$?
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ "$status" -eq 0 ] && [ "${executions:-0}" -gt 0 ]; then
        summary+=("$name: $executions executions, no panic")
        return
    fi
    failed=1
    tail -n 40 "$log" >&2
    local input
    input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    summary+=("$name: FAILED (exit $status) after ${executions:-?} executions; the whole log: $log")
    if [ -n "$input" ]; then
        summary+=("  run it again: ${command[0]} $input")
    fi
}

for entry in "${TARGETS[@]}"; do
    read -r name dictionary <<<"$entry"
    if [[ $wanted == *" $name "* ]]; then
        fuzz_one "$name" "$dictionary"
        wanted=${wanted/ $name / }
    fi
done
if [ -n "${wanted// /}" ]; then
    echo "fuzz: there is no target named$wanted" >&2
    exit 64
fi
printf '%s\n' "${summary[@]}"
exit "$failed"
