#!/bin/bash
# Has a service listen for the notice that Azure takes this node back, which calls the hook of the
# plan, and tells jobs by which identity the container of the plan is reached.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=/dev/null
. "$here/settings"
# shellcheck source=/dev/null
. "$here/common"

need curl curl
need python3 python3
cat >/etc/profile.d/tensorform-checkpoint.sh <<END
export TENSORFORM_CHECKPOINT_URL='$CHECKPOINT_URL'
export AZCOPY_AUTO_LOGIN_TYPE=MSI
export AZCOPY_MSI_RESOURCE_STRING='$CHECKPOINT_IDENTITY'
END
systemctl daemon-reload
systemctl enable --now tensorform-checkpoint.service
