#!/usr/bin/env bash
# prepare.sh IN OUT_DIR: turns wnut17train.conll, emerging.dev.conll and emerging.test.annotated of IN (.gz or not) into
# OUT_DIR/train.conll, valid.conll and test.conll: a word, a tab, its label; an empty line between sentences.
set -euo pipefail
[ $# -eq 2 ] && [ -d "$1" ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
mkdir -p "$2"
for part in wnut17train.conll:train emerging.dev.conll:valid emerging.test.annotated:test; do
  f=$1/${part%:*}
  [ -f "$f" ] || f=$f.gz
  [ -f "$f" ] || { echo "$1 has no ${part%:*}" >&2; exit 4; }
  gzip -cdf "$f" | awk -F'\t' '
    { sub(/\r$/, "") }
    /^[ \t]*$/ { if (words) print ""; words = 0; next }
    { gsub(/ /, "_", $1); print $1 "\t" $2; words++ }
    END { if (words) print "" }' > "$2/${part#*:}.conll"
done
grep -c '^$' "$2"/{train,valid,test}.conll
