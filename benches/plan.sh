#!/usr/bin/env bash
# Measures the plan of 1, 100 and 1,000 VMs against a sandbox in a process of its own, and how
# fast the tool starts; keeps the raw results in benches/results.
#
#   benches/plan.sh [WHAT] [NOTE]    WHAT names the file (plan), NOTE is kept in it
#   NODES="1 100" RUNS=9             other numbers of VMs, more runs of each
set -euo pipefail
cd "$(dirname "$0")/.."
exec cargo bench --locked --bench plan -- "$@"
