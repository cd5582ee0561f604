#!/usr/bin/env bash
# same_bits.sh PROGRAM MODEL FILE [OPTION...]: what a model makes of a file, text and scores to the last digit, must not
# depend on batches and threads: as f32 and as int8, by translate and by score. OPTIONs go to translate.
set -euo pipefail
program=$1 model=$2 file=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

head -20 "$file" >"$work/dev" # its report is of no matter here
"$program" quantize "$model" --out "$work/int8" --dev "$work/dev" "$work/dev" --quiet >/dev/null 2>"$work/quantize.log" ||
  { cat "$work/quantize.log" >&2; exit 1; }
failed=0
same() { # NAME COMMAND...: compares what it says with what it said first
  local name=$1
  shift
  "$@" >"$work/now"
  if [[ ! -e $work/$name ]]; then
    mv "$work/now" "$work/$name"
  elif ! cmp -s "$work/now" "$work/$name"; then
    echo "DIFFERS  $name: ${*: -4}"
    failed=1
  fi
}
for type in f32 int8; do
  m=$model
  [[ $type == int8 ]] && m=$work/int8
  for batch in 4096 64 1; do
    for threads in 1 2 3; do
      same "$type-text" "$program" translate "$m" "$file" --json --quiet "$@" --batch-tokens "$batch" --threads "$threads"
      [[ -e $work/$type-lines ]] || "$program" translate "$m" "$file" --quiet "$@" >"$work/$type-lines"
      same "$type-scores" "$program" score "$m" "$file" "$work/$type-lines" --quiet --batch-tokens "$batch" --threads "$threads"
    done
  done
  echo "$type: $(wc -l <"$work/$type-text") lines, 9 settings$([[ $failed == 0 ]] && echo ': the same bits')"
done
exit $failed
