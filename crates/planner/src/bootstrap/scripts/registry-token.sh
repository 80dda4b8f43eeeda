#!/bin/bash
# Prints a password for the registry of the plan, which holds for some hours. Azure gives this node a
# token of its identity, and the registry gives its own for that; neither is written down.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=/dev/null
. "$here/settings"

metadata="http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01"

ask() { curl --silent --show-error --fail --retry 5 --max-time 30 "$@"; }

# A member of the JSON that is read.
member() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

token=$(
  ask --noproxy '*' --header Metadata:true --get \
    --data-urlencode "resource=https://containerregistry.azure.net" \
    --data-urlencode "msi_res_id=$REGISTRY_IDENTITY" "$metadata" | member access_token
)
# What is sent is read from a pipe: all users of a node see the words of its commands.
printf 'grant_type=access_token&service=%s&access_token=%s' "$REGISTRY" "$token" |
  ask --data @- "https://$REGISTRY/oauth2/exchange" | member refresh_token
