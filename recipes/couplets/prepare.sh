#!/usr/bin/env bash
# prepare.sh IN OUT_DIR: turns the couplets in IN (train.tsv or train_100k.tsv, and test.tsv, .gz or not: the first line, a
# tab, the second) into OUT_DIR/train.tsv, valid.tsv and test.tsv. Test couplets of which either line is in the training
# data are dropped, as are couplets whose lines differ in length; every 100th training couplet is for validation.
set -euo pipefail
[ $# -eq 2 ] && [ -d "$1" ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
find_file() {
  for name in "$@"; do for f in "$in/$name" "$in/$name.gz"; do [ ! -f "$f" ] || { echo "$f"; return; }; done; done
  echo "$in has no $1" >&2; exit 4
}
in=$1 out=$2
mkdir -p "$out"
train=$(find_file train_100k.tsv train.tsv)
test=$(find_file test.tsv)
# In UTF-8 all bytes but 0x80-0xBF begin a character: without those, bytes can be counted in any locale.
same='function n(s) { gsub(/[\200-\277]/, "", s); return length(s) } BEGIN { FS = "\t" } NF == 2 && n($1) == n($2)'
gzip -cdf "$train" | LC_ALL=C awk "$same" | LC_ALL=C awk -F'\t' '!seen[$1]++' > "$out/all.tsv"
LC_ALL=C awk -v dir="$out" '{ print > (dir "/" (NR % 100 == 50 ? "valid" : "train") ".tsv") }' "$out/all.tsv"
gzip -cdf "$test" | LC_ALL=C awk "$same" |
  LC_ALL=C awk -F'\t' 'NR == FNR { seen[$1]; seen[$2]; next } !($1 in seen) && !($2 in seen)' "$out/all.tsv" - > "$out/test.tsv"
rm "$out/all.tsv"
wc -l "$out"/{train,valid,test}.tsv
