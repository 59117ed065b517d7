#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# statuses_test.sh - docs/statuses.md is what scripts/statuses.sh makes of include/hbg/status.h.
set -euo pipefail
root=${HBG_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}

page=$("$root/scripts/statuses.sh")
diff -u "$root/docs/statuses.md" <(echo "$page") || { echo "docs/statuses.md is stale: scripts/statuses.sh > docs/statuses.md" >&2; exit 1; }
count=$(grep -c '^| `HBG_' <<< "$page")
(( count >= 26 )) || { echo "the page has $count statuses" >&2; exit 1; }
echo "$count statuses"
