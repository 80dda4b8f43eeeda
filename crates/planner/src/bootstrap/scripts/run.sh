#!/bin/bash
# Brings this node to what its plan asks for, step by step, at every start of the system.
# Running it again is safe: each step looks at what is there first. How it ended stands in
# result: "ready", or "failed" with the step and its exit status.
set -uo pipefail
umask 022
here=$(cd "$(dirname "$0")" && pwd)
state=/var/lib/tensorform/bootstrap
log=/var/log/tensorform-bootstrap.log
mkdir -p "$state"
exec 9>"$state/lock"
flock 9
touch "$log"
chmod 0600 "$log"

say() { printf '%s %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$*" >>"$log"; }

conclude() {
  printf '%s\n' "$*" >"$state/result.new"
  mv "$state/result.new" "$state/result"
  say "$*"
}

rm -f "$state/result"
for step in "$here"/steps/*; do
  [ -x "$step" ] || continue
  name=$(basename "$step")
  name=${name#*-}
  say "step $name"
  "$step" </dev/null >>"$log" 2>&1 9>&-
  status=$?
  if [ "$status" -ne 0 ]; then
    conclude "failed $name $status"
    exit 1
  fi
done
conclude ready
