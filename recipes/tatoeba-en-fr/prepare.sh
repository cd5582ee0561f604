#!/usr/bin/env bash
# prepare.sh FRA.TXT[.gz] DIR: cuts the pairs "English<TAB>French" of Tatoeba, sorted by length, into DIR/train.tsv,
# valid.tsv and test.tsv. Every 50th English sentence is for the test, with the first of its translations; as many are
# for validation. No English sentence is in two of them.
set -euo pipefail
[ $# -eq 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
mkdir -p "$2"
gzip -cdf "$1" | awk -F'\t' -v dir="$2" '
  NF < 2 { print "line " NR " has no tab" > "/dev/stderr"; exit 4 }
  !($1 in number) { number[$1] = count++; first = 1 }
  { part = number[$1] % 50 == 0 ? "test" : number[$1] % 50 == 25 ? "valid" : "train"
    if (part == "train" || first) print $1 "\t" $2 > (dir "/" part ".tsv")
    first = 0 }'
wc -l "$2"/{train,valid,test}.tsv
