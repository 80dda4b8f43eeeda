#!/bin/bash
# Prepares a node for tuning with LoRA: an environment of its own on the fast local disks.
# It runs as root, once, when everything else is in place. Its output is in
# /var/log/tensorform-bootstrap.log.
set -euo pipefail
work=${TENSORFORM_SCRATCH:-/var/tmp}/tune
mkdir -p "$work"
export HF_HOME=$work/models
python3 -m venv "$work/environment"
"$work/environment/bin/pip" install --quiet peft==0.17.1 trl==0.23.0
chmod -R a+rX "$work"
