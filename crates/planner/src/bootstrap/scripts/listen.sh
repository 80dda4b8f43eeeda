#!/bin/bash
# Asks each second whether Azure takes this node back. If it does, the hook is called, and once it
# has ended well Azure is told that nobody needs the node any more; Azure waits some 30 seconds at
# most. The hook is called from time to time too, where the plan says so.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null
. "$here/settings"
# shellcheck source=/dev/null
. /etc/profile.d/tensorform-checkpoint.sh

metadata=http://169.254.169.254/metadata
events="$metadata/scheduledevents?api-version=2020-07-01"

ask() { curl --silent --show-error --fail --noproxy '*' --max-time 10 --header Metadata:true "$@"; }

# The notices about the machine of this name, by their ids.
notices() {
  python3 -c '
import json, sys
for event in json.loads(sys.stdin.read() or "{}").get("Events", []):
    if event.get("EventType") == "Preempt" and sys.argv[1] in event.get("Resources", []):
        print(event["EventId"])
' "$1"
}

# Calls the hook: why it is called is its first word.
save() {
  echo "calling $CHECKPOINT_HOOK: $1"
  "$CHECKPOINT_HOOK" "$1" </dev/null
}

name=
answered=" "
last=$SECONDS
saving=
while true; do
  if [ -z "$name" ]; then
    name=$(ask "$metadata/instance/compute/name?api-version=2021-02-01&format=text") || name=
  fi
  for id in $(ask "$events" | notices "$name"); do
    case $answered in *" $id "*) continue ;; esac
    # A hook that fails is called again for as long as the node is there.
    if ! save preempt; then
      echo "the hook failed" >&2
    elif ask --data "{\"StartRequests\": [{\"EventId\": \"$id\"}]}" "$events" >/dev/null; then
      answered="$answered$id "
      echo "told Azure that the node may go"
    fi
  done
  # A notice must not wait for a save that takes long, and a save for none that has not ended.
  if [ -n "$CHECKPOINT_EVERY" ] && [ $((SECONDS - last)) -ge "$CHECKPOINT_EVERY" ]; then
    last=$SECONDS
    if [ -z "$saving" ] || ! kill -0 "$saving" 2>/dev/null; then
      { save interval || echo "the hook failed with status $?" >&2; } &
      saving=$!
    fi
  fi
  sleep 1
done
