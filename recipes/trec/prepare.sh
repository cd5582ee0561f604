#!/usr/bin/env bash
# prepare.sh IN OUT_DIR: turns the questions in IN (train_5500.label and TREC_10.label, or train.txt and test.txt, .gz or
# not; ISO-8859-1) into OUT_DIR/train.tsv, valid.tsv and test.tsv: the coarse label, a tab, the question. Every 11th
# different question of the training set is for validation; training questions that are in the test set are left out.
set -euo pipefail
[ $# -eq 2 ] && [ -d "$1" ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
find_file() {
  for name in "$@"; do for f in "$in/$name" "$in/$name.gz"; do [ ! -f "$f" ] || { echo "$f"; return; }; done; done
  echo "$in has no $1" >&2; exit 4
}
in=$1 out=$2
mkdir -p "$out"
train=$(find_file train_5500.label train.txt)
test=$(find_file TREC_10.label test.txt)
lines() { gzip -cdf "$1" | iconv -f iso-8859-1 -t utf-8 | awk '{ label = $1; sub(/:.*/, "", label); $1 = ""; print label "\t" substr($0, 2) }'; }
lines "$test" > "$out/test.tsv"
lines "$train" | awk -F'\t' -v dir="$out" '
  NR == FNR { tested[$2]; next }
  $2 in tested { next }
  !($2 in number) { number[$2] = count++ }
  { print > (dir "/" (number[$2] % 11 == 5 ? "valid" : "train") ".tsv") }' "$out/test.tsv" -
wc -l "$out"/{train,valid,test}.tsv
