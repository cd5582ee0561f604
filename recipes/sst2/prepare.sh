#!/usr/bin/env bash
# prepare.sh IN OUT_DIR: turns the sentences in IN (train.tsv, dev.tsv and test.tsv, .gz or not: a sentence, a tab, 1 or 0)
# into OUT_DIR/train.tsv, valid.tsv and test.tsv: positive or negative, a tab, the sentence.
set -euo pipefail
[ $# -eq 2 ] && [ -d "$1" ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
mkdir -p "$2"
for part in train dev test; do
  f=$1/$part.tsv
  [ -f "$f" ] || f=$f.gz
  [ -f "$f" ] || { echo "$1 has no $part.tsv" >&2; exit 4; }
  gzip -cdf "$f" | awk -F'\t' '
    NR == 1 && $2 !~ /^[01]$/ { next }                       # a header
    NF != 2 { print "line " NR " has " NF " columns" > "/dev/stderr"; exit 4 }
    { print ($2 == "1" ? "positive" : "negative") "\t" $1 }' > "$2/$([ $part = dev ] && echo valid || echo $part).tsv"
done
wc -l "$2"/{train,valid,test}.tsv
