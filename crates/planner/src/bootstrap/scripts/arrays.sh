#!/bin/bash
# Keeps the node arrays of the cluster: what a command of the plan brings is imported as a whole.
#   arrays put CLUSTER ARRAY yes|no    the parts of the template come in, parted by lines of %%
#   arrays drop CLUSTER ARRAY          its nodes go first; with the last array the cluster goes
set -euo pipefail
umask 077
state=/var/lib/tensorform/cyclecloud
export HOME=/root LC_ALL=C
verb=$1 cluster=$2 array=$3
"$(dirname "$0")/await" </dev/null
exec 9>"$state/lock"
flock 9

import() {
  cat "$state/head" "$state"/arrays/* "$state/tail" >"$state/cluster.txt"
  cyclecloud import_template "$cluster" -c "$cluster" -f "$state/cluster.txt" --force
  cyclecloud import_cluster "$cluster" -c "$cluster" -f "$state/cluster.txt" \
    -p "$state/parameters.json" --force
}

put() {
  local part=$state/head line
  : >"$state/head"
  : >"$state/arrays/$array"
  : >"$state/tail"
  while IFS= read -r line; do
    if [ "$line" != %% ]; then
      printf '%s\n' "$line" >>"$part"
    elif [ "$part" = "$state/head" ]; then
      part=$state/arrays/$array
    else
      part=$state/tail
    fi
  done
  import
  if [ "$1" = yes ]; then cyclecloud start_cluster "$cluster"; fi
}

drop() {
  [ -e "$state/arrays/$array" ] || return 0
  if [ "$(find "$state/arrays" -type f | wc -l)" -gt 1 ]; then
    cyclecloud remove_node "$cluster" --filter="Template === \"$array\"" --no-prompt
    rm -f "$state/arrays/$array"
    import
    return
  fi
  cyclecloud terminate_cluster "$cluster"
  # Only a cluster that does not run any more is deleted.
  waited=0
  until cyclecloud delete_cluster "$cluster"; do
    [ "$waited" -lt 3000 ] || { echo "error: nodes of $cluster still run" >&2; exit 1; }
    sleep 15
    waited=$((waited + 15))
  done
  rm -f "$state/arrays/$array"
}

case $verb in
  put) put "$4" ;;
  drop) drop ;;
  *) echo "error: put or drop" >&2; exit 2 ;;
esac
