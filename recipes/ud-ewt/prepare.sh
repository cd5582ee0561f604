#!/usr/bin/env bash
# prepare.sh IN OUT_DIR: unpacks en_ewt-ud-{train,dev,test}.conllu of IN (.gz or not) as OUT_DIR/{train,valid,test}.conllu.
set -euo pipefail
[ $# -eq 2 ] && [ -d "$1" ] || { sed -n '2s/^# //p' "$0" >&2; exit 2; }
mkdir -p "$2"
for part in train:train dev:valid test:test; do
  f=$1/en_ewt-ud-${part%:*}.conllu
  [ -f "$f" ] || f=$f.gz
  [ -f "$f" ] || { echo "$1 has no en_ewt-ud-${part%:*}.conllu" >&2; exit 4; }
  gzip -cdf "$f" > "$2/${part#*:}.conllu"
done
grep -c '^# text = ' "$2"/{train,valid,test}.conllu
