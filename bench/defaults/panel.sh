#!/usr/bin/env bash
# panel.sh SETS OUT_DIR [OPTION]...: is what `attune new` writes as good as we know how? Trains on each set of SETS (as
# prepare.sh makes them) the recipe that `new --time T` writes, and the recipe that ships for it, its schedule fitted to
# the same time, and tests both. A line of JSON each goes to OUT_DIR/results.jsonl; runs that have theirs are not
# repeated, so that it can be stopped and started again. Then: table.sh OUT_DIR/results.jsonl.
#   --program P      attune (build/attune)      --time T       2m, 10m (2m)
#   --seeds "1 2"    of training (1)            --only "A B"   sets (all)
#   --sides "S ..."  new, recipe, before (new recipe)          --before P     an older attune, for `before`
#   --fit-only yes   recipes and lengths alone, which is the part that wants an idle machine
set -euo pipefail
usage() { sed -n '2,10s/^# //p' "$0" >&2; exit 2; }
[ $# -ge 2 ] && [ -d "$1" ] || usage
root=$(cd "$(dirname "$0")/../.." && pwd)
sets=$(realpath "$1") out=$2
shift 2
program=$root/build/attune before='' time=2m seeds=1 only='' sides='new recipe' fit_only=no
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --program) program=$(realpath "$2") ;;
    --before) before=$(realpath "$2") ;;
    --time) time=$2 ;;
    --seeds) seeds=$2 ;;
    --only) only=$2 ;;
    --sides) sides=$2 ;;
    --fit-only) fit_only=$2 ;;
    *) usage ;;
  esac
  shift 2
done
mkdir -p "$out"
out=$(realpath "$out")
results=$out/results.jsonl fits=$out/fits
mkdir -p "$fits" "$out/runs"
touch "$results"
seconds=$(echo "$time" | sed -E 's/^([0-9]+)s$/\1/; s/^([0-9]+)m$/\1*60/; s/^([0-9]+)h$/\1*3600/' | xargs -I{} awk 'BEGIN { print {} }')

# The recipe that ships for a set, and the folder it is made for; none for the small ones.
recipe_of() {
  case $1 in
    ud-ewt | wnut17 | sst2 | trec | ag-news | sick | multi30k | tatoeba-en-fr) echo "$root/recipes/$1/recipe.toml" ;;
    shakespeare) echo "$root/recipes/shakespeare-char/large.toml" ;;
  esac
}
metric_of() {
  case $1 in
    wnut17) echo span-f1 ;;
    *) case $(cat "$sets/$1/task") in translate) echo bleu ;; language) echo bits_per_character ;; *) echo accuracy ;; esac ;;
  esac
}
value() { sed -nE "s/^$2 = \"?([^\" ]*)\"?.*/\1/p" "$1" | head -n 1; }
json_number() { sed -nE "s/.*\"$1\":(-?[0-9.e+-]+).*/\1/p" | head -n 1; }
files_of() { # SET ROLE: the files of a role, sorted so that sources come first
  case $(cat "$sets/$1/task") in
    translate) if [ -f "$sets/$1/$2.tsv" ]; then echo "$sets/$1/$2.tsv"; else echo "$sets/$1/$2.en $sets/$1/$2.de"; fi ;;
    *) echo "$sets/$1/$2".* ;;
  esac
}
quoted() { for f in "$@"; do printf '%s"%s"' "${comma:-}" "$f"; comma=,; done; comma=; }
# fit SET SIDE: the recipe of a side and the settings that make it end in time, once for all seeds, into $fits. This is
# what the machine must be idle for: training itself goes by updates, and comes to the same whatever runs beside it.
fit() {
  local set=$1 side=$2 p=$program task recipe=$fits/$1-$2-$time.toml args=()
  task=$(cat "$sets/$set/task")
  [ ! -f "$fits/$set-$side-$time.args" ] || return 0
  local train valid test
  read -ra train <<<"$(files_of "$set" train)"
  read -ra valid <<<"$(files_of "$set" valid)"
  read -ra test <<<"$(files_of "$set" test)"
  case $side in
    new) "$p" new "$task" "${train[@]}" "${valid[@]}" "${test[@]}" --time "$time" --out "$recipe" --force --quiet ;;
    before)
      p=$before
      "$p" new "$task" "${train[@]}" "${valid[@]}" "${test[@]}" --out "$recipe" --force --quiet
      ;;
    recipe)
      [ -n "$(recipe_of "$set")" ] || return 0
      cp "$(recipe_of "$set")" "$recipe"
      if [ "$set" = sick ]; then train=("$sets/sick-both/train.tsv") valid=("$sets/sick-both/valid.tsv") test=("$sets/sick-both/test.tsv"); fi
      args+=("data.train=[$(quoted "${train[@]}")]" "data.valid=[$(quoted "${valid[@]}")]" "data.test=[$(quoted "${test[@]}")]")
      ;;
    *) usage ;;
  esac
  if [ "$side" != new ]; then
    local ms stop warmup updates
    ms=$("$p" bench train "$recipe" --updates 6 --json --quiet "${args[@]/#/--set=}" | json_number ms_per_update)
    stop=$(value "$recipe" stop | sed -n 's/u$//p') warmup=$(value "$recipe" warmup)
    updates=$(awk -v s="$seconds" -v ms="$ms" 'BEGIN { print int(0.9 * s * 1000 / ms) }')
    if [ -z "$stop" ] || [ "$stop" -gt "$updates" ]; then
      args+=("train.stop=${updates}u" "train.validate=$((updates / 8 > 0 ? updates / 8 : 1))u")
      [ -z "$warmup" ] || [ -z "$stop" ] || args+=("train.warmup=$((warmup * updates / stop))")
    fi
  fi
  printf '%s\n' "${args[@]}" >"$fits/$set-$side-$time.args"
}
# one SET SIDE SEED
one() {
  local set=$1 side=$2 seed=$3 metric p=$program run=$out/runs/$1-$2-$time-$3 settings=() s
  metric=$(metric_of "$set")
  if grep -q "\"set\":\"$set\",\"side\":\"$side\",\"time\":\"$time\",\"seed\":$seed," "$results"; then return; fi
  fit "$set" "$side"
  [ -f "$fits/$set-$side-$time.args" ] || return 0
  [ "$side" != before ] || p=$before
  # Where more time changed nothing of what is trained, the run is the one there is already, bit for bit.
  local other line
  for other in "$fits/$set-$side"-*.args; do
    other=${other#"$fits/$set-$side-"} other=${other%.args}
    [ "$other" != "$time" ] && cmp -s "$fits/$set-$side-$other.args" "$fits/$set-$side-$time.args" &&
      cmp -s <(grep -v '^#' "$fits/$set-$side-$other.toml") <(grep -v '^#' "$fits/$set-$side-$time.toml") || continue
    line=$(grep "\"set\":\"$set\",\"side\":\"$side\",\"time\":\"$other\",\"seed\":$seed," "$results" | head -n 1 || true)
    [ -z "$line" ] || { echo "${line/\"time\":\"$other\"/\"time\":\"$time\"}" | tee -a "$results" && return; }
  done
  rm -rf "$run"
  while read -r s; do [ -z "$s" ] || settings+=(--set "$s"); done <"$fits/$set-$side-$time.args"
  local start=$SECONDS cpu score valid_score
  cpu=$(TIMEFORMAT=%U; { time "$p" train "$fits/$set-$side-$time.toml" --out "$run" "${settings[@]}" --set "train.seed=$seed" \
    --quiet 2>"$run.log" >/dev/null; } 2>&1) || {
    echo "panel: $set $side $seed failed, see $run.log" >&2
    return 0
  }
  local took=$((SECONDS - start))
  score=$("$p" test "$run" --json --quiet 2>>"$run.log" | json_number "$metric")
  valid_score=$(grep -o "\"valid_$metric\":[0-9.e+-]*" "$run/metrics.jsonl" | cut -d: -f2 |
    sort -g $([ "$metric" = bits_per_character ] || echo -r) | head -n 1)
  echo "{\"set\":\"$set\",\"side\":\"$side\",\"time\":\"$time\",\"seed\":$seed,\"metric\":\"$metric\",\"score\":${score:-null},\"valid\":${valid_score:-null},\"seconds\":$took,\"processor_seconds\":$cpu}" |
    tee -a "$results"
  rm -rf "$run/checkpoints"
}
for set in ${only:-$(ls "$sets")}; do
  [ -f "$sets/$set/task" ] || continue
  for side in $sides; do fit "$set" "$side"; done
done
[ "$fit_only" = yes ] && exit
for seed in $seeds; do
  for set in ${only:-$(ls "$sets")}; do
    [ -f "$sets/$set/task" ] || continue
    for side in $sides; do one "$set" "$side" "$seed"; done
  done
done
