#!/usr/bin/env bash
# prepare.sh IN OUT_DIR: turns the news in IN (train.csv or train5000.csv, and test.csv, .gz or not) into
# OUT_DIR/train.tsv, valid.tsv and test.tsv: the label, a tab, title and text in one. Records are class (1 to 4), title,
# text, or text and class (0 to 3). Of a large training set the first 5,000 are taken; every 10th of these is for
# validation. Marks of HTML and line ends written as \ become what they stand for.
set -euo pipefail
[ $# -eq 2 ] && [ -d "$1" ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
find_file() {
  for name in "$@"; do for f in "$in/$name" "$in/$name.gz"; do [ ! -f "$f" ] || { echo "$f"; return; }; done; done
  echo "$in has no $1" >&2; exit 4
}
in=$1 out=$2
mkdir -p "$out"
train=$(find_file train5000.csv train.csv)
test=$(find_file test.csv)
lines() {
  gzip -cdf "$1" | awk '
    BEGIN { split("World Sports Business Sci/Tech", labels, " ") }
    {
      n = 0; rest = $0                                       # fields of a record, "" within quotes is a quote
      while (rest != "" || n == 0) {
        field = ""
        if (substr(rest, 1, 1) == "\"") {
          rest = substr(rest, 2)
          while ((at = index(rest, "\"")) > 0) {
            field = field substr(rest, 1, at - 1)
            rest = substr(rest, at + 1)
            if (substr(rest, 1, 1) != "\"") break
            field = field "\""; rest = substr(rest, 2)
          }
          rest = substr(rest, 2)
        } else {
          at = index(rest ",", ",")
          field = substr(rest, 1, at - 1); rest = substr(rest, at + 1)
        }
        fields[++n] = field
      }
      if (n == 3) { label = fields[1]; text = fields[2] " " fields[3] }
      else if (n == 2) { label = fields[2] + 1; text = fields[1] }
      else { print "line " NR " has " n " fields" > "/dev/stderr"; exit 4 }
      gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&quot;/, "\"", text); gsub(/&amp;|#0?38;/, "\\&", text)
      gsub(/ ?(#39|#0?14[56]|#821[67]);/, "\047", text); gsub(/#36;/, "$", text); gsub(/quot;|#0?14[78];|#822[01];/, "\"", text)
      gsub(/#0?15[01];|#821[12];/, "-", text); gsub(/<\/?[A-Za-z]+( [^<>]*)?>/, " ", text)
      gsub(/[\\\t]/, " ", text); gsub(/  +/, " ", text); sub(/^ /, "", text); sub(/ $/, "", text)
      print labels[label] "\t" text
    }'
}
lines "$test" > "$out/test.tsv"
lines "$train" | awk -v dir="$out" 'NR <= 5000 { print > (dir "/" (NR % 10 == 5 ? "valid" : "train") ".tsv") }'
wc -l "$out"/{train,valid,test}.tsv
