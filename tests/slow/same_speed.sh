#!/usr/bin/env bash
# same_speed.sh OLD NEW [ROUNDS] [option]...: two programs (or build folders) must be equally fast and take no more memory:
# a guard for changes of the code that promise to change nothing (same_as.sh looks at results).
#
# In each round (default: 5) it runs, one program right after the other and by turns the one or the other first:
#   train-tiny, train-base    attune bench train with bench/peers/{tiny,base}.toml: 4+4 layers of 128, 6+6 of 512
#   train-language            the same with recipes/shakespeare-char: 4 layers of 128, characters
#   decode-tiny, decode-base, decode-tiny-int8, decode-base-int8
#                             attune bench decode, beam 5, with such models after one update, made by OLD for both
# and prints for each the medians of tokens/s and of peak memory, and what NEW is of OLD: the median over rounds of the
# ratios within a round, with the least and the most; and the same of the processor's time of the whole program, which
# other work on the machine disturbs less. It names all that is off by more than 2 % and exits with 1 if NEW is slower or
# takes more. A ratio means nothing where two runs of one program differ as much: try OLD OLD, and keep the machine idle.
#
#   --only REGEX    only figures whose names match: --only 'tiny|language'
#   --threads N     of training (default: 2); decoding has one
#   --short         a fifth of the work in each run: a first look
#   --data DIR      train.en.gz and train.de.gz of DIR (Multi30k) instead of made lines of as many words
#   --runs FILE     every run as a line: name, round, program, tokens/s, MB, seconds of the processor
#
# A round takes about two minutes on two idle cores, 30 s with --short, and a minute more before the first.
set -euo pipefail
die() { printf 'same_speed.sh: %s\n' "$1" >&2 && exit 2; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ $# -ge 2 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" && exit 2; }
declare -A program
for side in old new; do
  program[$side]=$(realpath "$1") && shift
  [ ! -d "${program[$side]}" ] || program[$side]+=/attune
  [ -x "${program[$side]}" ] || die "no program ${program[$side]}"
done
rounds=5 only='' threads=2 part=1 data='' runs=''
[[ ! ${1:-} =~ ^[1-9][0-9]*$ ]] || { rounds=$1 && shift; }
while [ $# -gt 0 ]; do
  [ "$1" != --short ] || { part=5 && shift && continue; }
  [ $# -ge 2 ] || die "$1 needs a value"
  case $1 in
    --only | --threads | --data | --runs) printf -v "${1#--}" %s "$2" ;;
    *) die "unknown option $1" ;;
  esac
  shift 2
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/runs"

# Lines of 6 to 18 words of 8,000, frequent ones far more often, every word at least once: what an update costs depends on
# the size of the vocabulary and on lengths, not on sense.
if [ -n "$data" ]; then
  for side in en de; do zcat "$data/train.$side.gz" >"$work/train.$side"; done
else
  for side in en de; do
    awk -v side=$side -v seed=$([ $side = en ] && echo 1 || echo 2) 'BEGIN {
      srand(seed)
      for (i = 0; i < 12000; i++) {
        n = 6 + (i * 7919 + 5) % 13
        for (j = 0; j < n; j++)
          printf "%sw%d", j ? " " : "", i < 1000 && j < 6 ? (i * 6 + j) % 4000 + (side == "de") * 4000 : int(8000 ^ rand()) - 1
        print ""
      }
    }' >"$work/train.$side"
  done
fi
for side in en de; do head -n 4 "$work/train.$side" >"$work/valid.$side"; done
sed -n '2001,2500p' "$work/train.en" >"$work/test.en"
zcat "$root/recipes/demo/train.en.gz" "$root/recipes/demo/train.de.gz" >"$work/text"
head -n 100 "$work/text" >"$work/text.valid"
pairs=(--set "data.train=[\"$work/train.en\", \"$work/train.de\"]" --set "data.valid=[\"$work/valid.en\", \"$work/valid.de\"]")
text=(--set "data.train=[\"$work/text\"]" --set "data.valid=[\"$work/text.valid\"]" --set "data.test=[\"$work/text.valid\"]")

wanted() { [[ -z $only || $1 =~ $only ]]; }
value_of() { sed -n "s/.*\"$1\": *\([^,}]*\).*/\1/p" "$work/out"; }
# run NAME SIDE COMMAND...: one run, a line in $work/runs.
run() {
  local name=$1 side=$2 figure=target_tokens_per_s cpu
  shift 2
  [[ $name == train-* ]] || figure=tokens_per_s_median
  local TIMEFORMAT='%U %S'
  { time "${program[$side]}" bench "$@" --json --quiet >"$work/out" 2>"$work/err"; } 2>"$work/time" ||
    die "$name: ${program[$side]}: $(head -n 2 "$work/err")"
  cpu=$(awk '{ print $1 + $2 }' "$work/time")
  printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$name" "$round" "$side" "$(value_of $figure)" "$(value_of peak_rss_mb)" "$cpu" |
    tee -a "$work/runs" >&2
}
# by_turns NAME COMMAND...: both programs.
by_turns() {
  local name=$1 side order='old new'
  shift
  wanted "$name" || return 0
  [ $((round % 2)) = 1 ] || order='new old'
  for side in $order; do run "$name" $side "$@"; done
}
some() { echo $(($1 / part > 0 ? $1 / part : 1)); } # a part of so many

for model in tiny base; do
  wanted decode-$model || wanted decode-$model-int8 || continue
  "${program[old]}" train "$root/bench/peers/$model.toml" "${pairs[@]}" --set train.stop=1u --set train.average=1 \
    --set train.batch_tokens=256 --set train.metric=loss --out "$work/$model" --quiet >&2
  ! wanted decode-$model-int8 || "${program[old]}" quantize "$work/$model" --out "$work/$model-int8" --quiet \
    --dev "$work"/valid.{en,de} >/dev/null
done
for ((round = 1; round <= rounds; ++round)); do
  by_turns train-tiny train "$root/bench/peers/tiny.toml" "${pairs[@]}" --threads "$threads" --updates "$(some 20)" --warm 2
  by_turns train-base train "$root/bench/peers/base.toml" "${pairs[@]}" --threads "$threads" --updates "$(some 5)" --warm 1
  by_turns train-language train "$root/recipes/shakespeare-char/recipe.toml" "${text[@]}" --threads "$threads" \
    --updates "$(some 150)" --warm 10
  for type in '' -int8; do
    by_turns decode-tiny$type decode "$work/tiny$type" "$work/test.en" --threads 1 --max-length 20 --lines "$(some 300)" \
      --latency-lines 10 --rounds 3
    by_turns decode-base$type decode "$work/base$type" "$work/test.en" --threads 1 --max-length 12 --lines "$(some 55)" \
      --latency-lines 5 --rounds 3
  done
done
[ -z "$runs" ] || cp "$work/runs" "$runs"

awk -F '\t' -v rounds="$rounds" '
  function median(n,    i, j, t) { # of list[1..n], which it sorts
    for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j - 1] > list[j]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
    return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
  }
  function of(side, column,    r) { for (r = 1; r <= rounds; r++) list[r] = x[name, r, side, column]; return median(rounds) }
  function ratio(column,    r) { # leaves the least and the most at the ends of list
    for (r = 1; r <= rounds; r++) list[r] = x[name, r, "new", column] / x[name, r, "old", column]
    return median(rounds)
  }
  function off(what, by) { said = said sprintf("  %s: %s %+.1f %%\n", name, what, 100 * (by - 1)) }
  { if (!($1 in seen)) { seen[$1] = 1; names[++n] = $1 } for (c = 4; c <= 6; c++) x[$1, $2, $3, c] = $c }
  END {
    if (n == 0) { print "nothing to measure"; exit 2 }
    printf "%-17s %10s %10s %6s %-14s %6s %8s %8s %6s\n", "", "OLD", "NEW", "ratio", "(least-most)", "cpu", "OLD MB", "NEW MB", "ratio"
    for (i = 1; i <= n; i++) {
      name = names[i]
      cpu = ratio(6); memory = ratio(5); speed = ratio(4); span = sprintf("(%.3f-%.3f)", list[1], list[rounds])
      printf "%-17s %10.1f %10.1f %6.3f %-14s %6.3f %8.1f %8.1f %6.3f\n", name, of("old", 4), of("new", 4), speed, span, cpu,
        of("old", 5), of("new", 5), memory
      if (speed < 0.98 || speed > 1.02) off("speed", speed)
      if (memory < 0.98 || memory > 1.02) off("memory", memory)
      bad = bad || speed < 0.98 || memory > 1.02
    }
    printf "%s", said == "" ? "all within 2 %\n" : "off by more than 2 %:\n" said
    exit bad
  }' "$work/runs"
