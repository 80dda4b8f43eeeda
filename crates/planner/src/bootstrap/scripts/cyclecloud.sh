#!/bin/bash
# Sets up the CycleCloud server of this node without anybody at its pages: its first user, whose
# password is made here and leaves in no document, the key by which it reaches its nodes, its
# command line, and the account by which it makes nodes.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=/dev/null
. "$here/settings"
# shellcheck source=/dev/null
. "$here/common"

server=/opt/cycle_server
state=/var/lib/tensorform/cyclecloud
[ -x "$server/cycle_server" ] || fail "the image has no CycleCloud in $server"
need curl curl
mkdir -p "$state/arrays"
chmod 0700 "$state"

metadata() {
  curl -sf --noproxy '*' --retry 10 --retry-all-errors -H 'Metadata: true' \
    "http://169.254.169.254/metadata/instance/compute/$1?api-version=2021-02-01&format=text"
}

# What an answer says of a member, and nothing else of it.
member() { sed -n "s/.*\"$1\" *: *\"\([^\"]*\)\".*/\1/p"; }

# Hands records over and waits until they are taken.
take_in() {
  local name=$1 waited=0
  chown cycle_server:cycle_server "$state/$name"
  mv "$state/$name" "$server/config/data/$name"
  while [ -e "$server/config/data/$name" ]; do
    [ "$waited" -lt 300 ] || fail "the server does not take in $name"
    sleep 5
    waited=$((waited + 5))
  done
}

"$server/cycle_server" await_startup || "$server/cycle_server" start --wait

if [ ! -s "$state/password" ]; then
  (
    umask 077
    # Of 4 kinds of characters, which the server asks for.
    printf '%s%s' "$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')" 'A-z' >"$state/password.new"
  )
  mv "$state/password.new" "$state/password"
fi
password=$(cat "$state/password")

if [ ! -e "$state/user-made" ]; then
  key=$(getent passwd "$CYCLECLOUD_USER" | cut -d: -f6)/.ssh/authorized_keys
  public=$(grep -m1 -oE '(ssh|ecdsa)-[^ ]+ [A-Za-z0-9+/=]+' "$key") || fail "no public key of $CYCLECLOUD_USER is there"
  (
    umask 077
    cat >"$state/account_data.json" <<END
[
{"AdType": "Application.Setting", "Name": "cycleserver.installation.initial_user", "Value": "$CYCLECLOUD_USER"},
{"AdType": "Application.Setting", "Name": "cycleserver.installation.complete", "Value": true},
{"AdType": "AuthenticatedUser", "Name": "$CYCLECLOUD_USER", "RawPassword": "$password", "Superuser": true},
{"AdType": "Credential", "CredentialType": "PublicKey", "Name": "$CYCLECLOUD_USER/public", "PublicKey": "$public"}
]
END
  )
  take_in account_data.json
  # The server keeps what it took in under another name.
  rm -f "$server"/config/data/account_data.json.imported
  touch "$state/user-made"
fi

if [ ! -s "$server/.ssh/cyclecloud.pem" ]; then
  install -d -m 0700 -o cycle_server -g cycle_server "$server/.ssh"
  ssh-keygen -q -t rsa -b 4096 -m PEM -N '' -C cyclecloud -f "$server/.ssh/cyclecloud.pem"
  chown cycle_server:cycle_server "$server/.ssh/cyclecloud.pem"
fi

export HOME=/root
cyclecloud initialize --batch --force --url=https://localhost --verify-ssl=false \
  --username="$CYCLECLOUD_USER" --password="$password" >/dev/null

if ! cyclecloud account list | grep -qw azure; then
  subscription=$(metadata subscriptionId)
  case $(metadata azEnvironment) in
    AzureUSGovernmentCloud) environment=usgov resource=https://management.usgovcloudapi.net/ ;;
    AzureChinaCloud) environment=china resource=https://management.chinacloudapi.cn/ ;;
    *) environment=public resource=https://management.azure.com/ ;;
  esac
  # The token itself goes nowhere.
  client=$(curl -sf --noproxy '*' --retry 10 --retry-all-errors -H 'Metadata: true' -G \
    --data-urlencode "resource=$resource" --data-urlencode "msi_res_id=$CYCLECLOUD_IDENTITY" \
    'http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01' | member client_id)
  [ -n "$client" ] || fail "this node cannot sign in by $CYCLECLOUD_IDENTITY"
  cat >"$state/azure.json" <<END
{"Name": "azure", "Provider": "azure", "ProviderId": "$subscription", "DefaultAccount": true,
 "Environment": "$environment", "AzureRMSubscriptionId": "$subscription",
 "AuthType": "ManagedIdentity", "AzureRMUseManagedIdentity": true, "AzureRMClientId": "$client",
 "AzureResourceGroup": "$(metadata resourceGroupName)", "Location": "$(metadata location)",
 "RMStorageAccount": "$CYCLECLOUD_ACCOUNT", "RMStorageContainer": "$CYCLECLOUD_CONTAINER",
 "LockerAuthMode": "ManagedIdentity", "LockerIdentity": "$CYCLECLOUD_IDENTITY"}
END
  cyclecloud account create -f "$state/azure.json"
fi
printf '{"Credentials": "azure", "ReturnProxy": false}\n' >"$state/parameters.json"
