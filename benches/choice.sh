#!/usr/bin/env bash
# Measures the choice of a size with its explanation: whole processes of the optimised binary over
# the whole catalogue and over all regions, against what is promised; keeps the raw results in
# benches/results.
#
#   benches/choice.sh [NOTE]    NOTE is kept with the results
#   RUNS=51                     more runs of each
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --locked --release
exec python3 benches/choice.py "${CARGO_TARGET_DIR:-target}/release/tensorform" "$@"
