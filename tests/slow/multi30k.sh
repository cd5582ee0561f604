#!/usr/bin/env bash
# multi30k.sh PROGRAM DATA [SEED...]: trains recipes/multi30k on the tokenised Multi30k in DATA (train, val and
# test_2016_flickr, each .en.gz and .de.gz) once for each seed (1 2 3) and tells the scores and their median, which must
# be above 41.02. Runs are kept in build/multi30k, under the hash of program and recipe, and go on where they stopped.
set -euo pipefail
program=$(realpath "$1") data=$(realpath "$2")
shift 2
cd "$(dirname "$0")/../.."
out=build/multi30k/$(cat "$program" recipes/multi30k/recipe.toml | sha256sum | cut -c1-12)
mkdir -p "$out"
files() { printf '["%s/%s.en.gz","%s/%s.de.gz"]' "$data" "$1" "$data" "$1"; }
sets=(--set "data.train=$(files train)" --set "data.valid=$(files val)" --set "data.test=$(files test_2016_flickr)")
[ $# -gt 0 ] || set -- 1 2 3
scores=()
for s in "$@"; do
  "$program" train recipes/multi30k/recipe.toml --out "$out/seed-$s" "${sets[@]}" --set "train.seed=$s" --quiet
  score=$("$program" test "$out/seed-$s" --length-penalty 1.4 --json | sed -nE 's/.*"bleu":([0-9.]+).*/\1/p')
  echo "seed $s: $score"
  scores+=("$score")
done
median=$(printf '%s\n' "${scores[@]}" | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }')
echo "median: $median"
awk -v m="$median" 'BEGIN { exit !(m > 41.02) }'
