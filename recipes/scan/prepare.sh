#!/usr/bin/env bash
# prepare.sh IN OUT_DIR [SPLIT]: turns tasks_train_SPLIT.txt and tasks_test_SPLIT.txt of IN (.gz or not; SPLIT is simple
# unless told: length, addprim_jump) into OUT_DIR/train.tsv, valid.tsv and test.tsv: a command, a tab, its actions. Every
# 50th training command is for validation.
set -euo pipefail
[ $# -ge 2 ] && [ $# -le 3 ] && [ -d "$1" ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
mkdir -p "$2"
pairs() {
  f=$1
  [ -f "$f" ] || f=$f.gz
  [ -f "$f" ] || { echo "there is no $1" >&2; exit 4; }
  gzip -cdf "$f" | awk '/^IN: .* OUT: / { sub(/^IN: /, ""); sub(/ OUT: /, "\t"); print }'
}
pairs "$1/tasks_test_${3:-simple}.txt" > "$2/test.tsv"
pairs "$1/tasks_train_${3:-simple}.txt" | awk -v dir="$2" '{ print > (dir "/" (NR % 50 == 25 ? "valid" : "train") ".tsv") }'
wc -l "$2"/{train,valid,test}.tsv
