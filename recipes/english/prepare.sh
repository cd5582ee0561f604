#!/usr/bin/env bash
# prepare.sh IN OUT_DIR: gathers English text from IN, a sentence or short text a line. IN has the folders that the
# prepare.sh of other recipes made (ag-news, sick, sst2, trec, ud-ewt, wnut17; those that are there), whose training texts
# become OUT_DIR/tasks.txt, and a folder raw of any files of text, .gz or not (of lines with tabs the first column), a folder
# in it and so on, which become OUT_DIR/raw.txt. What is in a validation or test set of the recipes is left out wherever it
# comes from, as are lines that were there before: compared by letters and digits alone, without regard to case.
set -euo pipefail
[ $# -eq 2 ] && [ -d "$1" ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
shopt -s globstar nullglob
in=$1 out=$2
mkdir -p "$out"
words() { awk -F'\t' '/^[0-9]+[-.][0-9]+\t/ || /^# / { next } NF < 2 { if (s != "") print substr(s, 2); s = ""; next }
                      { s = s " " $(NF == 10 ? 2 : 1) } END { if (s != "") print substr(s, 2) }' "$1"; }
texts() {                                                    # the texts of one part, train, valid or test, a line each
  for set in ag-news sst2 trec; do [ ! -f "$in/$set/$1.tsv" ] || cut -f2 "$in/$set/$1.tsv"; done
  [ ! -f "$in/sick/$1.tsv" ] || cut -f3,4 "$in/sick/$1.tsv" | tr '\t' '\n'
  [ ! -f "$in/ud-ewt/$1.conllu" ] || words "$in/ud-ewt/$1.conllu"
  [ ! -f "$in/wnut17/$1.conll" ] || words "$in/wnut17/$1.conll"
}
{ texts valid; texts test; } > "$out/kept-away.txt"
new_lines() {                                                # those of the input that none of the given files has
  iconv -c -f utf-8 -t utf-8 | LC_ALL=C awk '
    function bare(s) { s = tolower(s); gsub(/[^a-z0-9\200-\377]/, "", s); return s }
    FILENAME != "-" { seen[bare($0)]; next }
    { key = bare($0) }
    key == "" || key in seen { next }
    { seen[key]; print }' "$@" -
}
texts train | new_lines "$out/kept-away.txt" > "$out/tasks.txt"
for f in "$in"/raw/**; do [ ! -f "$f" ] || gzip -cdf "$f" | cut -f1; done |
  new_lines "$out/kept-away.txt" "$out/tasks.txt" > "$out/raw.txt"
rm "$out/kept-away.txt"
wc "$out"/{tasks,raw}.txt
