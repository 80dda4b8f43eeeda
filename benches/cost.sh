#!/usr/bin/env bash
# Measures cost previews of a stack of ten pools: whole processes of the optimised binary, against
# what is promised; keeps the raw results in benches/results.
#
#   benches/cost.sh [NOTE]    NOTE is kept with the results
#   RUNS=51                   more runs of each
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --locked --release
exec python3 benches/cost.py "${CARGO_TARGET_DIR:-target}/release/tensorform" "$@"
