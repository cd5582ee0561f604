#!/usr/bin/env bash
# prepare.sh IN OUT_DIR: turns SICK_train.txt, SICK_trial.txt and SICK_test_annotated.txt in IN (.gz or not) into
# OUT_DIR/train.tsv, valid.tsv and test.tsv: the label, a tab, the first sentence, a tab, the second. OUT_DIR/pairs.txt has
# both sentences of each training pair in a line, in both orders: raw text.
set -euo pipefail
[ $# -eq 2 ] && [ -d "$1" ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
mkdir -p "$2"
for part in train:train trial:valid test_annotated:test; do
  f=$1/SICK_${part%:*}.txt
  [ -f "$f" ] || f=$f.gz
  [ -f "$f" ] || { echo "$1 has no SICK_${part%:*}.txt" >&2; exit 4; }
  gzip -cdf "$f" | awk -F'\t' 'NR > 1 { sub(/\r$/, ""); print tolower($5) "\t" $2 "\t" $3 }' > "$2/${part#*:}.tsv"
done
awk -F'\t' '{ print $2 " | " $3; print $3 " | " $2 }' "$2/train.tsv" > "$2/pairs.txt"
wc -l "$2"/{train,valid,test}.tsv
