#!/usr/bin/env bash
# same_as.sh OLD NEW [option]...: two programs (or build folders) must make the same models and give the same answers: a
# guard for changes of the code that promise to change nothing. (same_bits.sh asks one program about threads and batches.)
#
# It trains each recipe of same_as_recipes.sh, 50 updates of a tiny model, with OLD and with NEW, and compares
#   weights    the bytes of model.safetensors (by sha256)
#   moments    the bytes of optimizer.safetensors of the last checkpoint
#   validation losses and metrics in metrics.jsonl
#   answers    what translate, generate, classify, tag, score, embed, look and test say with these models, to the last digit
#   old model  the same answers of NEW with the model that OLD made
# then copies by quantize (int8, f16, a shortlist), average, an ensemble, runs of OLD that NEW goes on with, and
# models/en-fr on 500 lines: beams, n-best, alignments, samples, rules, a prefix, a shortlist. All data is made of what
# ships. It prints a line for each, "same" or "DIFFERENT" and what of it, or "FAILED" where one or both could not do it;
# the exit code is 1 if there is any. A command that both refuse with the same exit code is an answer like any other.
#
#   --only REGEX         only recipes whose names match, and those that they start from; of the rest en-fr where that does
#   --threads N          of both programs (default: 2)
#   --new-threads N      of NEW: the same bits are promised for any
#   --new-set KEY=VALUE  a setting for NEW alone, to see that this script can fail: --new-set train.seed=2
#   --keep DIR           leave everything in DIR (new): DIR/old, DIR/new and DIR/data
#
# About two and a half minutes of the processor's time, a part of it for some 1,300 starts of the programs; some
# recipes alone in seconds: --only 'label|bag'.
set -uo pipefail
die() { printf 'same_as.sh: %s\n' "$1" >&2 && exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
[ $# -ge 2 ] || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0" && exit 2; }
declare -A program threads
for side in old new; do
  program[$side]=$(realpath "$1") && shift
  [ ! -d "${program[$side]}" ] || program[$side]+=/attune
  [ -x "${program[$side]}" ] || die "no program ${program[$side]}"
done
threads=([old]=2 [new]=2) only='' new_set=() keep=
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || die "$1 needs a value"
  case $1 in
    --only) only=$2 ;;
    --threads) threads=([old]=$2 [new]=$2) ;;
    --new-threads) threads[new]=$2 ;;
    --new-set) new_set+=(--set "$2") ;;
    --keep) keep=$2 ;;
    *) die "unknown option $1" ;;
  esac
  shift 2
done
if [ -n "$keep" ]; then
  mkdir "$keep" && work=$(realpath "$keep") || exit 2
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"/{data,old,new}
. "$here/same_as_recipes.sh"
same_data "$work/data" "$root/recipes/demo"

# Both programs run in folders of their own that look alike, so that no path tells them apart.
ln -s ../data "$work/old/data"
ln -s ../data "$work/new/data"
ln -s "$root/models/en-fr" "$work/data/en-fr"
# do_as SIDE COMMAND...: the exit code is the program's; what it said is in $work/SIDE.out and .err.
do_as() {
  local side=$1
  shift
  (cd "$work/$side" && exec "${program[$side]}" "$@" --quiet --threads "${threads[$side]}") \
    >"$work/$side.out" 2>"$work/$side.err" </dev/null
}
sha() { sha256sum <"$1" | cut -c 1-16; }

declare -i same=0 bad=0
report() { # NAME WHAT...: nothing in WHAT is the same
  local name=$1
  shift
  if [ $# -eq 0 ]; then
    same+=1
    printf 'same       %-18s %s\n' "$name" "$note"
  else
    bad+=1
    printf 'DIFFERENT  %-18s %s\n' "$name" "$(printf '%s; ' "$@" | sed 's/; $//')"
  fi
}
failed() { # NAME: what the last do_as of each side said, where codes are not 0
  bad+=1
  local side
  for side in old new; do
    [ "${code[$side]}" = 0 ] || printf 'FAILED     %-18s %s: exit %s: %s\n' "$1" "$side" "${code[$side]}" "$(grep -m 1 . "$work/$side.err")"
  done
}
# both NAME COMMAND...: both do it; fails, and says so, unless both can.
declare -A code
both() {
  local name=$1 side
  shift
  for side in old new; do
    do_as $side "$@"
    code[$side]=$?
  done
  [ "${code[old]}${code[new]}" = 00 ] || { failed "$name" && return 1; }
}

# differs A B WHAT: adds WHAT to `what` unless the files are the same.
differs() { cmp -s "$1" "$2" || what+=("$3"); }
compare_weights() { # A B: names and shapes apart from numbers
  cmp -s "$1" "$2" && return
  local a b
  a=$(od -An -N8 -tu8 "$1") b=$(od -An -N8 -tu8 "$2")
  if cmp -s <(tail -c +$((a + 9)) "$1") <(tail -c +$((b + 9)) "$2"); then
    what+=("weights are the same numbers under another header")
  else
    what+=("weights $(sha "$1") $(sha "$2")")
  fi
}
# ask NAME COMMAND...: compares what both say.
declare -i asked refused
ask() {
  local side
  for side in old new; do
    do_as $side "$@"
    code[$side]=$?
  done
  asked+=1
  if [ "${code[old]}" != "${code[new]}" ]; then
    what+=("$1: exit ${code[old]} ${code[new]}: $(cat "$work"/{old,new}.err | grep -m 1 .)")
  elif [ "${code[old]}" != 0 ]; then
    refused+=1
  elif ! cmp -s "$work/old.out" "$work/new.out"; then
    what+=("answers of $1 ${*:3}")
  fi
  # The model that OLD made, opened by NEW.
  if [ "${code[old]}" = 0 ] && [ -d "$work/old/$2" ] && [ "${2#data/}" = "$2" ]; then
    ln -sfn "../old/$2" "$work/new/of-old"
    do_as new "$1" of-old "${@:3}" && cmp -s "$work/old.out" "$work/new.out" || what+=("old model: answers of $1")
  fi
}
ask_all() { # BASE MODEL: all that a model of the kind can be asked
  asked=0 refused=0
  case $1 in
    translate | table)
      ask translate "$2" data/test.lines --json --beam 4 --n-best 3
      ask translate "$2" data/test.lines --beam 1 --alignment=soft
      ask translate "$2" data/test.lines --sample --seed 7 --top-p 0.9 --n-best 2 --scores
      ask score "$2" data/test.en data/test.de --json
      ask look "$2" "On the first of May he saw a red house." --numbers --width 200
      ;;
    lines | stream)
      ask generate "$2" data/prompts --max-length 70 --seed 3 --json
      ask generate "$2" data/prompts --max-length 20 --beam 3 --n-best 2 --json
      ask score "$2" data/test.de --json
      ask look "$2" "Am ersten Mai sah er ein rotes Haus." --numbers --width 200
      ;;
    pairs) ask classify "$2" data/pairs.lines --json ;;
    tags | spans) ask tag "$2" data/test.lines --json ;;
    *) ask classify "$2" data/test.lines --json ;;
  esac
  ask embed "$2" data/test.lines
  ask test "$2"
}

validations() { # of a run, without times: progress goes by the clock
  grep '"valid_' "$1/metrics.jsonl" | grep -oE '"(update|best|epoch|valid_[^"]*)": ?[^,}]*' | grep -v valid_seconds
}
last_moments() { ls -d "$1"/checkpoints/step-* 2>/dev/null | sort | tail -n 1 | sed 's,$,/optimizer.safetensors,'; }
compare_runs() { # NAME BASE: after both have trained
  local old=$work/old/$1 new=$work/new/$1
  what=()
  compare_weights "$old/model.safetensors" "$new/model.safetensors"
  [ ! -e "$(last_moments "$old")" ] || differs "$(last_moments "$old")" "$(last_moments "$new")" moments
  validations "$old" >"$work/old.out" && validations "$new" >"$work/new.out" || what+=("no validations")
  differs "$work/old.out" "$work/new.out" validation
  ask_all "$2" "$1"
  note="$(sha "$new/model.safetensors") $asked answers"
  [ "$refused" = 0 ] || note+=", $refused refused"
  report "$1" "${what[@]}"
}

: >"$work/sets"
declare -A base_of
recipe() { # NAME BASE KEY=VALUE...
  local name=$1 base=$2 set side sets=()
  shift 2
  base_of[$name]=$base
  printf '%s\n' "$@" >>"$work/sets"
  [[ -z $only || $name =~ $only || $name == paper && start =~ $only || $name == masked && label-start =~ $only ]] || return 0
  for set in "$@"; do sets+=(--set "${set//@\//}"); done
  for side in old new; do
    [ $side = old ] || sets+=("${new_set[@]}")
    do_as $side train "data/$base.toml" --out "$name" "${sets[@]}"
    code[$side]=$?
  done
  if [ "${code[old]}${code[new]}" = 00 ]; then
    compare_runs "$name" "$base"
  else
    failed "$name"
  fi
}
same_recipes

# Every kind that OLD knows stands in some recipe.
missing=()
covered() { # TOPIC KEYS: names of `attune info TOPIC` in the values of keys
  local name
  do_as old info "$1" --json || die "attune info $1 fails"
  for name in $(sed -E 's/^\{"name": ?"([^"]*)".*/\1/' "$work/old.out"); do
    grep -E "^($2)=" "$work/sets" | grep -qE "[=\" ]$name([\" ,]|\$)" || missing+=("$1: $name")
  done
}
covered mechanisms 'model\.[a-z_]*attention'
covered scores 'model\.[a-z_]*attention'
covered positions 'model\.[a-z_]*position'
covered heads model.head
covered pools model.pool
covered optimizers train.optimizer
[ ${#missing[@]} = 0 ] || report coverage "no recipe has $(printf '%s, ' "${missing[@]}")"

if [ -z "$only" ]; then
  # Smaller copies of models that write texts, and averages.
  for of in paper prefix-rope stream; do
    for type in int8 f16; do
      what=() name=$of-$type
      both "$name" quantize "$of" --type $type --out "$name" || continue
      compare_weights "$work"/{old,new}/"$name/model.safetensors"
      ask_all "${base_of[$of]}" "$name"
      note="$(sha "$work/new/$name/model.safetensors") $asked answers" && report "$name" "${what[@]}"
    done
  done
  what=() name=paper-shortlist
  if both $name quantize paper --shortlist --out $name; then
    differs "$work"/{old,new}/$name/shortlist.txt shortlist.txt
    ask_all translate $name
    note="$asked answers" && report $name "${what[@]}"
  fi
  what=() name=paper-average
  if both $name average paper --last 2 --out $name; then
    compare_weights "$work"/{old,new}/$name/model.safetensors
    note=$(sha "$work/new/$name/model.safetensors") && report $name "${what[@]}"
  fi
  what=() asked=0 refused=0
  ask translate paper,start data/test.lines --json
  ask translate prefix,paper data/test.lines --json --alignment
  note="$asked answers, $refused refused" && report ensembles "${what[@]}"
  # Half a run of OLD: both go on with it.
  for of in translate stream; do
    name=$of-resumed half=(data/$of.toml --out "$of-resumed" --set train.schedule=constant)
    [ $of = translate ] || half+=(--set 'model.attention={ kind = "transformer-xl", memory = 32 }')
    do_as old train "${half[@]}" --set train.stop=25u
    code[old]=$? code[new]=0
    [ "${code[old]}" = 0 ] || { failed $name && continue; }
    cp -r "$work/old/$name" "$work/new/$name"
    both $name train "${half[@]}" && compare_runs $name $of
  done
fi

if [[ -z $only || en-fr =~ $only ]]; then
  # 500 lines: the demo's, and some that are not so kind.
  {
    printf '%s\n' '' '   ' 'WHY NOT?' $'tab\there' 'Ünïcödé 🙂 日本語' '12,345.67 € on 31/12' \
      "I'd like a cup of tea, please, and \"two\" of those." 'x' 'supercalifragilisticexpialidocious' \
      "$(head -n 12 "$work/data/train.en" | tr '\n' ' ')"
    cat "$root"/recipes/demo/{test,valid}.en
  } | head -n 500 >"$work/data/lines.en"
  awk '{ print NR % 3 ? "" : NR % 2 ? "Je" : "Il ne" }' "$work/data/lines.en" >"$work/data/begin.fr"
  what=() asked=0 refused=0
  m=data/en-fr
  do_as old translate $m data/lines.en
  cp "$work/old.out" "$work/data/lines.fr"
  ask translate $m data/lines.en
  ask translate $m data/lines.en --json --beam 5 --n-best 3
  ask translate $m data/lines.en --beam 1 --scores --alignment
  ask translate $m data/lines.en --alignment=soft --json
  ask translate $m data/lines.en --alignment --alignment-layer 0 --alignment-heads 0,3
  ask translate $m data/lines.en --align-to data/lines.fr
  ask translate $m data/lines.en --sample --seed 7 --temperature 0.8 --top-k 20 --top-p 0.9 --n-best 2 --scores
  ask translate $m data/lines.en --coverage-penalty 0.2 --length-penalty 1.2 --no-repeat-ngram 2 --repetition-penalty 1.3 \
    --min-length 4 --max-length 20 --suppress ▁Je --scores
  ask translate $m data/lines.en --prefix data/begin.fr --json
  ask translate $m data/lines.en --stream --batch-tokens 256
  ask score $m data/lines.en data/lines.fr --json
  ask embed $m data/lines.en
  note="$(wc -l <"$work/data/lines.en") lines, $asked answers"
  [ "$refused" = 0 ] || note+=", $refused refused"
  report en-fr "${what[@]}"
  # Its recipe reads tables.
  paste "$work"/data/lines.{en,fr} | tail -n +11 >"$work/data/lines.tsv"
  head -n 20 "$work/data/lines.tsv" >"$work/data/dev.tsv"
  what=() asked=0 name=en-fr-shortlist
  if both $name quantize $m --out $name --shortlist --shortlist-data data/lines.tsv --dev data/dev.tsv; then
    compare_weights "$work"/{old,new}/$name/model.safetensors
    differs "$work"/{old,new}/$name/shortlist.txt shortlist.txt
    ask translate $name data/lines.en --json --n-best 2
    note="$asked answers" && report $name "${what[@]}"
  fi
fi
echo "$same the same, $bad not: ${program[old]}, ${program[new]}"
[ "$bad" = 0 ]
