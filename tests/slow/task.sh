#!/usr/bin/env bash
# task.sh BUILD TASK: trains a recipe of recipes/tasks and tests it on lines that were in no training data: at least 99 %
# must come out exactly, and training must have taken less than a minute.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1 task=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
ninja -C "$build" generate_tasks >/dev/null
cp "recipes/tasks/$task.toml" "$dir/recipe.toml"
"$build/generate_tasks" "$dir/data"
start=$(date +%s)
"$build/attune" train "$dir/recipe.toml" --out "$dir/model"
took=$(($(date +%s) - start))
target=$(sed -n 's/^test = .*"\(.*\)"\]/\1/p' "$dir/recipe.toml")
"$build/attune" translate "$dir/model" "$dir/data/test.letters" --beam 1 >"$dir/out"
score=$("$build/attune" metric exact --ref "$dir/$target" "$dir/out" --json | sed -n 's/.*"score":\([0-9.]*\).*/\1/p')
echo "$task: $score % exact, $took s"
awk -v s="$score" -v t="$took" 'BEGIN { exit !(s >= 99 && t < 60) }'
