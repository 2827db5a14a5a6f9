# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by shell tests: one works in an empty folder, which is removed at the end, and ends at the
# first command that fails, which it names.
set -Eeuo pipefail
trap 'echo "line $LINENO failed: $BASH_COMMAND" >&2' ERR
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
