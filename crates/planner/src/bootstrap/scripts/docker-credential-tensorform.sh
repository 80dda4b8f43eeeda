#!/bin/bash
# What Docker asks when it needs to sign in: nothing is kept, each question gets a new answer.
set -euo pipefail
here=/opt/tensorform/bootstrap
# shellcheck source=/dev/null
. "$here/settings"

case ${1:-} in
  get)
    server=$(cat)
    name=${server#https://}
    if [ "${name%%/*}" != "$REGISTRY" ]; then
      echo "credentials not found in native keychain"
      exit 1
    fi
    password=$("$here/registry-token")
    printf '{"ServerURL":"%s","Username":"00000000-0000-0000-0000-000000000000","Secret":"%s"}\n' "$server" "$password"
    ;;
  list) echo '{}' ;;
  store | erase) cat >/dev/null ;;
  *) exit 2 ;;
esac
