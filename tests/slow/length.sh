#!/usr/bin/env bash
# length.sh PROGRAM TEXTS [OUT [--set KEY=VALUE ...]]: trains the character model of recipes/shakespeare-char with windows
# of 256, once with positions by skewing (music) and once with sinusoids, and tests both with windows of 256 and 512. What
# reads on must not lose by the longer window, what was added to the embeddings must. TEXTS has train.txt and valid.txt;
# OUT keeps the models, and a second run goes on with them; what follows is for `attune train`.
set -euo pipefail
attune=$(realpath "$1") texts=$(realpath "$2") recipe=$(dirname "$0")/../../recipes/shakespeare-char/recipe.toml
dir=${3:-$(mktemp -d)}
[ $# -ge 3 ] || trap 'rm -rf "$dir"' EXIT

loss() { # loss MODEL WINDOW
  "$attune" test "$1" --quiet --json --set "data.test=[\"$texts/valid.txt\"]" --set "data.max_length=$2" \
    --set train.batch_tokens=4096 | grep -o '"loss":[0-9][0-9.]*' | cut -d: -f2
}

declare -A at
for position in music sinusoidal; do
  "$attune" train "$recipe" --out "$dir/$position" --set "data.train=[\"$texts/train.txt\"]" \
    --set "data.valid=[\"$texts/valid.txt\"]" --set "model.position=\"$position\"" --set data.max_length=256 \
    --set train.batch_tokens=2048 --set train.stop=1500u --set train.save=500u \
    "${@:4}"
  for window in 256 512; do at[$position$window]=$(loss "$dir/$position" $window); done
  echo "$position: trained at 256; loss ${at[${position}256]} at 256, ${at[${position}512]} at 512"
done
awk -v m2="${at[music256]}" -v m5="${at[music512]}" -v s2="${at[sinusoidal256]}" -v s5="${at[sinusoidal512]}" \
  'BEGIN { exit !(m5 <= m2 + 0.02 && s5 > s2 + 0.1) }'
