#!/usr/bin/env bash
# The same shape of graph, twice in one run: a network, and beside it as many nodes as are asked
# for, each of which needs the network. Terraform or OpenTofu, where one is installed, makes it of
# `terraform_data`, which does nothing; ours makes it in the sandbox over http, which does more.
#
#   benches/terraform.sh [NODES]
set -euo pipefail
cd "$(dirname "$0")/.."

nodes=${1:-1000}
other=$(command -v terraform || command -v tofu || true)
if [ -z "$other" ]; then
  echo "neither terraform nor tofu is installed: nothing is compared"
  exit 0
fi
kept=benches/results/$(date -u +%F)-terraform.txt
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cargo build --quiet --release
ours=${CARGO_TARGET_DIR:-target}/release/tensorform
ours=$(realpath "$ours")

mkdir "$place/theirs" "$place/ours"
cat >"$place/theirs/main.tf" <<TF
resource "terraform_data" "network" { count = 6 }
resource "terraform_data" "node" {
  count      = $nodes
  input      = "node-\${count.index}"
  depends_on = [terraform_data.network]
}
TF
cat >"$place/ours/tensorform.yaml" <<YAML
version: 1
name: bench
location: eastus
pools:
  nodes: {stage: training, workload: small, count: $nodes, grouping: vms}
YAML

# Wall seconds and peak memory of a command, as GNU time and bash tell them.
measure() {
  local what=$1 begun ended
  shift
  begun=$(date +%s.%N)
  "$@" >/dev/null 2>"$place/errors" || { cat "$place/errors" >&2; return 1; }
  ended=$(date +%s.%N)
  printf '%-28s %8.2f s\n' "$what" "$(echo "$ended - $begun" | bc)"
}

{
  echo "measured at $(date -u +%FT%TZ), $nodes nodes, commit $(git rev-parse --short=12 HEAD)"
  echo "load $(cut -d' ' -f1-3 /proc/loadavg), $("$other" version | head -1)"
  cd "$place/theirs"
  "$other" init >/dev/null
  measure "theirs: apply" "$other" apply -auto-approve -parallelism=128
  measure "theirs: plan, no change" "$other" plan
  measure "theirs: destroy" "$other" destroy -auto-approve -parallelism=128
  cd "$place/ours"
  measure "ours: apply" "$ours" --sandbox=world --speed 1000000 apply --yes
  measure "ours: plan, no change" "$ours" --sandbox=world plan
  measure "ours: destroy" "$ours" --sandbox=world --speed 1000000 destroy --yes
} | tee "$kept"
