#!/bin/bash
# Waits until the bootstrap of this node has ended, and tells how. A bootstrap that had failed is
# tried again. Nothing of its log is printed: that may hold what nobody else is to read.
set -uo pipefail
state=/var/lib/tensorform/bootstrap
systemctl start tensorform-bootstrap.service
verdict=
if [ -r "$state/result" ]; then read -r verdict <"$state/result"; fi
case $verdict in
  ready)
    echo "tensorform: the bootstrap is done"
    ;;
  failed\ *)
    read -r _ step status <<<"$verdict"
    echo "tensorform: step \`$step\` of the bootstrap failed with status $status; its log is /var/log/tensorform-bootstrap.log on the node" >&2
    exit 1
    ;;
  *)
    echo "tensorform: the bootstrap has not ended; its log is /var/log/tensorform-bootstrap.log on the node" >&2
    exit 1
    ;;
esac
