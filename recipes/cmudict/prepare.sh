#!/usr/bin/env bash
# prepare.sh CMUDICT.DICT[.gz] OUT_DIR: turns the dictionary into OUT_DIR/train.tsv, valid.tsv and test.tsv: the letters of
# a word, a tab, its sounds, all with blanks between them. Every 10th different word is for the test and every 100th for
# validation; all pronunciations of a word are in the same part, of test and validation words the first alone. Stress
# (AH0, AH1, AH2) is dropped. OUT_DIR/test.1.txt to test.4.txt have all pronunciations, a line for a line of test.tsv:
# references for `attune metric`; where a word has fewer, its first stands again.
set -euo pipefail
[ $# -eq 2 ] && [ -f "$1" ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
mkdir -p "$2"
gzip -cdf "$1" | awk -v dir="$2" '
  /^;;;/ { next }
  { sub(/ *#.*/, ""); sub(/\r$/, "") }
  NF < 2 { next }
  { word = tolower($1); sub(/\([0-9]+\)$/, "", word)
    sounds = $2
    for (i = 3; i <= NF; i++) sounds = sounds " " $i
    gsub(/[0-9]/, "", sounds)
    if (!(word in count)) order[words++] = word
    for (i = 1; i <= count[word]; i++) if (said[word, i] == sounds) next
    said[word, ++count[word]] = sounds }
  END {
    for (w = 0; w < words; w++) {
      word = order[w]
      letters = substr(word, 1, 1)
      for (i = 2; i <= length(word); i++) letters = letters " " substr(word, i, 1)
      part = w % 10 == 3 ? "test" : w % 100 == 58 ? "valid" : "train"
      for (i = 1; i <= (part == "train" ? count[word] : 1); i++)
        print letters "\t" said[word, i] > (dir "/" part ".tsv")
      if (part == "test")
        for (i = 1; i <= 4; i++) print said[word, i <= count[word] ? i : 1] > (dir "/test." i ".txt")
    }
  }'
wc -l "$2"/{train,valid,test}.tsv
