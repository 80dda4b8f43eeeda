#!/bin/bash
# The user's own script: once, when everything else is in place.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=/dev/null
. "$here/settings"
done=/var/lib/tensorform/bootstrap/script.done
if [ -e "$done" ]; then
  echo "the script has run"
  exit 0
fi
if [ -n "${SCRATCH_PATH:-}" ]; then export TENSORFORM_SCRATCH=$SCRATCH_PATH; fi
cd /root
"$here/script"
touch "$done"
