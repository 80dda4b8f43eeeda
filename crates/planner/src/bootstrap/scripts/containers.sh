#!/bin/bash
# A container runtime, the NVIDIA Container Toolkit where there is a GPU of NVIDIA, and the images of
# the plan. What the image of the node brings is used as it is.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=/dev/null
. "$here/settings"
# shellcheck source=/dev/null
. "$here/common"

has_nvidia() { cat /sys/bus/pci/devices/*/vendor 2>/dev/null | grep -qx 0x10de; }

# The first of these names that the package manager knows.
install_first() {
  local name
  for name in "$@"; do
    if install_packages "$name"; then return 0; fi
  done
  fail "none of these packages can be installed: $*"
}

# NVIDIA's own packages, all four of one version.
install_toolkit() {
  command -v apt-get >/dev/null || fail "the NVIDIA Container Toolkit is missing, and is installed on Ubuntu alone"
  local key=/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg
  local list=/etc/apt/sources.list.d/nvidia-container-toolkit.list
  local site=https://nvidia.github.io/libnvidia-container
  need curl curl
  need gpg gpg
  curl --fail --silent --show-error --location --retry 5 "$site/gpgkey" | gpg --batch --yes --dearmor --output "$key"
  echo "deb [signed-by=$key] $site/stable/deb/\$(ARCH) /" >"$list"
  install_packages \
    "nvidia-container-toolkit=$TOOLKIT_VERSION-1" \
    "nvidia-container-toolkit-base=$TOOLKIT_VERSION-1" \
    "libnvidia-container-tools=$TOOLKIT_VERSION-1" \
    "libnvidia-container1=$TOOLKIT_VERSION-1"
}

case $CONTAINER_RUNTIME in
  docker)
    command -v docker >/dev/null || install_first docker.io moby-engine docker
    data=/var/lib/docker
    ;;
  containerd)
    command -v containerd >/dev/null || install_first containerd containerd.io
    data=/var/lib/containerd
    ;;
  *) fail "no runtime that this step knows: $CONTAINER_RUNTIME" ;;
esac

settings() { cat /etc/docker/daemon.json /etc/containerd/config.toml /etc/containerd/conf.d/* 2>/dev/null | cksum; }
before=$(settings || true)
if has_nvidia; then
  nvidia-smi >/dev/null || fail "the image has no NVIDIA driver that works on this size"
  command -v nvidia-ctk >/dev/null || install_toolkit
  nvidia-ctk runtime configure --runtime="$CONTAINER_RUNTIME"
fi

# Images and layers go to the local disks, which are faster and larger than that of the system.
if [ -n "${SCRATCH_PATH:-}" ] && ! findmnt --mountpoint "$data" >/dev/null; then
  systemctl stop "$CONTAINER_RUNTIME" || true
  mkdir -p "$SCRATCH_PATH/$CONTAINER_RUNTIME" "$data"
  chmod 0710 "$SCRATCH_PATH/$CONTAINER_RUNTIME"
  mount --bind "$SCRATCH_PATH/$CONTAINER_RUNTIME" "$data"
fi
systemctl enable "$CONTAINER_RUNTIME"
# What runs already is left alone unless its settings have changed.
if [ "$before" = "$(settings || true)" ]; then
  systemctl start "$CONTAINER_RUNTIME"
else
  systemctl restart "$CONTAINER_RUNTIME"
fi

# The registry of the plan is asked by the identity of this node. Docker asks a helper each time, so
# that no password is kept; containerd reads one from memory while it pulls.
hosts=
if [ -n "${REGISTRY:-}" ]; then
  need curl curl
  need python3 python3
  if [ "$CONTAINER_RUNTIME" = docker ]; then
    export DOCKER_CONFIG=/root/.docker
    mkdir -p "$DOCKER_CONFIG"
    python3 - "$DOCKER_CONFIG/config.json" "$REGISTRY" <<'END'
import json, os, sys
path, registry = sys.argv[1:]
settings = {}
if os.path.exists(path):
    with open(path, encoding="utf-8") as file:
        settings = json.load(file)
settings.setdefault("credHelpers", {})[registry] = "tensorform"
with open(path + ".new", "w", encoding="utf-8") as file:
    json.dump(settings, file, indent=1)
os.replace(path + ".new", path)
END
  else
    hosts=$(mktemp -d /run/tensorform-registry.XXXXXX)
    trap 'rm -rf "$hosts"' EXIT
    mkdir "$hosts/$REGISTRY"
    password=$("$here/registry-token")
    password=$(printf '00000000-0000-0000-0000-000000000000:%s' "$password" | base64 --wrap=0)
    cat >"$hosts/$REGISTRY/hosts.toml" <<END
server = "https://$REGISTRY"
[host."https://$REGISTRY"]
capabilities = ["pull", "resolve"]
[host."https://$REGISTRY".header]
authorization = "Basic $password"
END
  fi
fi

is_there() {
  case $CONTAINER_RUNTIME in
    docker) docker image inspect "$1" >/dev/null 2>&1 ;;
    *) ctr images ls --quiet | grep -qxF "$1" ;;
  esac
}

pull() {
  case $CONTAINER_RUNTIME in
    docker) docker pull --quiet "$1" ;;
    *)
      case $1 in
        "${REGISTRY:-}"/*) ctr images pull --hosts-dir "$hosts" "$1" >/dev/null ;;
        *) ctr images pull "$1" >/dev/null ;;
      esac
      ;;
  esac
}

for image in $CONTAINER_IMAGES; do
  for try in 1 2 3 4 5; do
    if is_there "$image" || pull "$image"; then break; fi
    [ "$try" -lt 5 ] || fail "the image $image cannot be pulled"
    sleep $((try * 10))
  done
done
