# What the steps share; they read it with their settings.

# Stops the step with a reason.
fail() {
  echo "error: $*" >&2
  exit 1
}

# Installs packages with what the distribution has; what is there stays.
install_packages() {
  if command -v apt-get >/dev/null; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get -o DPkg::Lock::Timeout=600 update -q
    apt-get -o DPkg::Lock::Timeout=600 install -q -y --no-install-recommends "$@"
  elif command -v dnf >/dev/null; then
    dnf install -q -y "$@"
  elif command -v tdnf >/dev/null; then
    tdnf install -q -y "$@"
  else
    fail "no package manager that this bootstrap knows: apt-get, dnf, tdnf"
  fi
}

# Makes sure that a command is there: need COMMAND PACKAGE.
need() {
  command -v "$1" >/dev/null || install_packages "$2"
  command -v "$1" >/dev/null || fail "the package $2 brings no $1"
}
