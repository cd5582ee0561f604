#!/usr/bin/env bash
# probe.sh PROGRAM PROBE LEAST: makes a probe, trains its recipe and tests it on lines that were in no training data: at
# least LEAST % must come out exactly.
set -euo pipefail
attune=$(realpath "$1") probe=$2 least=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$attune" new "probe:$probe" --out "$dir"
start=$(date +%s)
"$attune" train "$dir/recipe.toml" --out "$dir/model"
took=$(($(date +%s) - start))
score=$("$attune" test "$dir/model" --json | grep -o '"exact":[0-9][0-9.]*' | cut -d: -f2)
echo "$probe: $score % exact, $took s"
awk -v s="$score" -v l="$least" 'BEGIN { exit !(s >= l) }'
