#!/usr/bin/env bash
# bleu_wmt17.sh PROGRAM DATA: the BLEU of the 16 English-German systems of WMT 2017 in DATA (txt.tar.gz with their
# outputs and ref0.tok.de, and expected_bleu_en-de.tsv with the published scores: `system<TAB>score`) to two decimals.
set -euo pipefail
program=$(realpath "$1") data=$(realpath "$2")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tar xzf "$data/txt.tar.gz" -C "$dir"
ref=$(find "$dir" -name ref0.tok.de)
count=0 wrong=0
while IFS=$'\t' read -r system expected; do
  score=$("$program" metric bleu --ref "$ref" "$(dirname "$ref")/$system" --json | sed -nE 's/.*"score":([0-9.]+).*/\1/p')
  same=$(awk -v a="$score" -v b="$expected" 'BEGIN { print sprintf("%.2f", a) == sprintf("%.2f", b) ? "same" : "DIFFERENT" }')
  printf '%-45s %6.2f, published %6.2f: %s\n' "$system" "$score" "$expected" "$same"
  count=$((count + 1))
  [ "$same" = same ] || wrong=$((wrong + 1))
done < <(tail -n +2 "$data/expected_bleu_en-de.tsv")
echo "$((count - wrong)) of $count systems have their published score"
[ $count -eq 16 ] && [ $wrong -eq 0 ]
