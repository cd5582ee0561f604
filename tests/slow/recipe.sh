#!/usr/bin/env bash
# recipe.sh PROGRAM NAME DATA METRIC LEAST [SET]...: trains recipes/NAME on the files of DATA and tests it: METRIC must be
# LEAST or more. A SET is a setting of the recipe, train.seed=2. The run is kept in build/recipes, under the hash of program,
# recipe and settings, and goes on where it stopped.
set -euo pipefail
program=$(realpath "$1") name=$2 data=$(realpath "$3") metric=$4 least=$5
shift 5
cd "$(dirname "$0")/../.."
recipe=recipes/$name/recipe.toml
out=build/recipes/$name-$( (cat "$program" "$recipe" && echo "$@") | sha256sum | cut -c1-12)
mkdir -p build/recipes
sets=()
for key in train valid test; do # the recipe's own names, in that folder
  files=$(sed -n "s/^$key = \[\(\"[^]]*\)\].*/\1/p" "$recipe" | sed "s,\"\([^\"]*\)\",\"$data/\1\",g")
  [ -z "$files" ] || sets+=(--set "data.$key=[$files]")
done
for set in "$@"; do sets+=(--set "$set"); done
TIMEFORMAT='training: %R s, %U s of the processor'
time "$program" train "$recipe" --out "$out" "${sets[@]}" --quiet
score=$("$program" test "$out" --json | sed -nE "s/.*\"$metric\":([0-9.]+).*/\1/p")
echo "$name: $metric $score"
awk -v s="$score" -v l="$least" 'BEGIN { exit !(s >= l) }'
