#!/usr/bin/env bash
# prepare.sh DATA OUT_DIR: makes the panel's sets of the downloads in DATA (a folder each: ud-english-ewt, wnut17, sst2,
# trec, ag-news, sick, multi30k-tok, tatoeba-en-fr, shakespeare; the recipes tell where they come from). A set is a folder
# of OUT_DIR with train.*, valid.*, test.* and the files' task in `task`. Small ones are the first lines of larger ones.
set -euo pipefail
[ $# -eq 2 ] && [ -d "$1" ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
data=$(realpath "$1") out=$2
mkdir -p "$out"
out=$(realpath "$out")
recipes=$(realpath "$(dirname "$0")/../../recipes")
# first_sentences N FILE: so many of a CoNLL file
first_sentences() { awk -v n="$1" 'n > 0 { print } /^[ \t]*$/ { --n }' "$2"; }
task() { echo "$2" >"$out/$1/task"; }

"$recipes/ud-ewt/prepare.sh" "$data/ud-english-ewt" "$out/ud-ewt" >/dev/null
task ud-ewt tag
"$recipes/wnut17/prepare.sh" "$data/wnut17" "$out/wnut17" >/dev/null
task wnut17 tag
mkdir -p "$out/ud-ewt-500"
first_sentences 500 "$out/ud-ewt/train.conllu" >"$out/ud-ewt-500/train.conllu"
cp "$out"/ud-ewt/{valid,test}.conllu "$out/ud-ewt-500"
task ud-ewt-500 tag

for set in sst2 trec ag-news; do
  "$recipes/$set/prepare.sh" "$data/$set" "$out/$set" >/dev/null
  task $set classify
done
# Pairs of sentences; the relatedness, a second answer, is left out.
"$recipes/sick/prepare.sh" "$data/sick" "$out/sick-both" >/dev/null
mkdir -p "$out/sick" "$out/sst2-500"
for part in train valid test; do cut -f 1,3,4 "$out/sick-both/$part.tsv" >"$out/sick/$part.tsv"; done
task sick classify
head -n 500 "$out/sst2/train.tsv" >"$out/sst2-500/train.tsv"
cp "$out"/sst2/{valid,test}.tsv "$out/sst2-500"
task sst2-500 classify

mkdir -p "$out/multi30k" "$out/multi30k-2000"
for side in en de; do
  for part in train:train val:valid test_2016_flickr:test; do
    gzip -cdf "$data/multi30k-tok/${part%:*}.$side.gz" >"$out/multi30k/${part#*:}.$side"
  done
  head -n 2000 "$out/multi30k/train.$side" >"$out/multi30k-2000/train.$side"
  cp "$out"/multi30k/{valid,test}.$side "$out/multi30k-2000"
done
task multi30k translate
task multi30k-2000 translate
"$recipes/tatoeba-en-fr/prepare.sh" "$data/tatoeba-en-fr/fra.txt.gz" "$out/tatoeba-en-fr" >/dev/null
task tatoeba-en-fr translate

mkdir -p "$out/shakespeare" "$out/shakespeare-100k" "$out/captions"
gzip -cdf "$data/shakespeare/input.txt.gz" >"$out/shakespeare/all"
head -c 1003854 "$out/shakespeare/all" >"$out/shakespeare/train.txt"
tail -c +1003855 "$out/shakespeare/all" >"$out/shakespeare/valid.txt"
cp "$out/shakespeare/valid.txt" "$out/shakespeare/test.txt"
rm "$out/shakespeare/all"
task shakespeare language
head -c 100000 "$out/shakespeare/train.txt" >"$out/shakespeare-100k/train.txt"
cp "$out"/shakespeare/{valid,test}.txt "$out/shakespeare-100k"
task shakespeare-100k language
for part in train valid test; do cp "$out/multi30k/$part.en" "$out/captions/$part.txt"; done
task captions language

wc -l "$out"/*/train.* | sed "s,$out/,,"
