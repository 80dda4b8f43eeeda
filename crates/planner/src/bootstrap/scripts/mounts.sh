#!/bin/bash
# Mounts the stores of the plan: systemd does it at every start, and here for the first time.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=/dev/null
. "$here/settings"
# shellcheck source=/dev/null
. "$here/common"

for client in $MOUNT_CLIENTS; do
  case $client in
    nfs)
      package=nfs-utils
      if command -v apt-get >/dev/null; then package=nfs-common; fi
      need mount.nfs "$package"
      ;;
    *)
      # It must fit the kernel, so that it is not installed here.
      command -v mount.lustre >/dev/null || fail "the image has no Lustre client: the HPC images have one"
      ;;
  esac
done

systemctl daemon-reload
for unit in $MOUNT_UNITS; do
  systemctl enable --now "$unit"
done
