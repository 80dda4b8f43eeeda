#!/usr/bin/env bash
# Measures plans without a change of many instances of scale sets, as whole processes against a
# sandbox in a process of its own: requests, wall time and peak memory of the client alone.
#
#   benches/instances.sh [NOTE]      INSTANCES=10000 RUNS=5
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --release
exec python3 benches/instances.py "${CARGO_TARGET_DIR:-target}/release/tensorform" "${1:-}"
