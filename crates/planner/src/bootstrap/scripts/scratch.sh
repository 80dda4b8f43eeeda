#!/bin/bash
# Local NVMe disks become one file system at /scratch. They are empty after a deallocation: then it
# is made anew. A disk with anything on it that is not ours is left alone.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=/dev/null
. "$here/settings"
# shellcheck source=/dev/null
. "$here/common"

array=/dev/md/tensorform-scratch

if findmnt --mountpoint "$SCRATCH_PATH" >/dev/null; then
  echo "$SCRATCH_PATH is mounted"
  exit 0
fi

# Network disks of newer sizes are NVMe too, and are called otherwise.
mapfile -t disks < <(
  lsblk --nodeps --noheadings --paths --pairs --output NAME,MODEL |
    sed -n 's/^NAME="\([^"]*\)" MODEL="Microsoft NVMe Direct Disk.*$/\1/p' | sort -V
)
count=${#disks[@]}
[ "$count" -gt 0 ] || fail "this size has no local NVMe disks"
if [ -n "$SCRATCH_DISKS" ] && [ "$count" -ne "$SCRATCH_DISKS" ]; then
  fail "expected $SCRATCH_DISKS local NVMe disks, found $count: ${disks[*]}"
fi

# Some images mount them by themselves: that file system is used then.
mapfile -t mounted < <(lsblk --noheadings --raw --output MOUNTPOINT "${disks[@]}" | sed '/^$/d' | sort -u)
if [ "${#mounted[@]}" -gt 0 ]; then
  [ "${#mounted[@]}" -eq 1 ] || fail "the local disks are in use: ${mounted[*]}"
  mkdir -p "$SCRATCH_PATH"
  mount --bind "${mounted[0]}" "$SCRATCH_PATH"
  chmod 1777 "$SCRATCH_PATH"
  exit 0
fi

need mkfs.xfs xfsprogs
device=${disks[0]}
if [ "$count" -gt 1 ]; then
  need mdadm mdadm
  device=$array
  # After a restart of the system the array is there, or can be put together again.
  if [ ! -e "$array" ]; then
    mdadm --assemble --quiet --run "$array" "${disks[@]}" || true
  fi
  if [ ! -e "$array" ]; then
    for disk in "${disks[@]}"; do
      found=$(wipefs --no-act --noheadings --output TYPE "$disk" | tr '\n' ' ')
      [ -z "$found" ] || fail "$disk holds something ($found) and is left alone"
    done
    mdadm --create "$array" --run --metadata=1.2 --homehost=any --name=tensorform-scratch \
      --level=0 --raid-devices="$count" "${disks[@]}"
  fi
fi

label=$(blkid --output value --match-tag LABEL "$device" || true)
if [ "$label" != tf-scratch ]; then
  found=$(wipefs --no-act --noheadings --output TYPE "$device" | tr '\n' ' ')
  [ -z "$found" ] || fail "$device holds something ($found) and is left alone"
  mkfs.xfs -q -L tf-scratch "$device"
fi
mkdir -p "$SCRATCH_PATH"
mount -o noatime "$device" "$SCRATCH_PATH"
chmod 1777 "$SCRATCH_PATH"
