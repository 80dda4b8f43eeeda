#!/usr/bin/env bash
# Measures applies: machines with operations of two seconds, a thousand machines through the real
# request buckets, plans of ten thousand instances, and what a step costs. All but the last is on a
# clock of its own, the same on every machine. Keeps what was printed beside when and on what.
#
#   benches/apply.sh [NOTE]      PROFILE=dev is built faster and costs more a step
set -euo pipefail
cd "$(dirname "$0")/.."

note=${1:-}
profile=${PROFILE:-release}
kept=benches/results/$(date -u +%F)-apply-$profile.txt
load() { cut -d' ' -f1-3 /proc/loadavg; }

cargo test --quiet --profile "$profile" --test acceptance --no-run
{
  echo "measured at $(date -u +%FT%TZ), profile $profile, commit $(git rev-parse --short=12 HEAD)"
  echo "on $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
  echo "load before: $(load)"
  [ -z "$note" ] || echo "note: $note"
  STEPS=${STEPS:-5000} INSTANCES=${INSTANCES:-10000} cargo test --quiet --profile "$profile" --test acceptance -- \
    engine::pace --nocapture --test-threads 1 2>&1 | grep -oE '(100 machines,|1,000 machines:|no change of|bookkeeping:).*|.*panicked.*|test result.*'
  echo "load after: $(load)"
} | tee "$kept"
echo "kept in $kept"
