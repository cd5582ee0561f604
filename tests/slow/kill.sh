#!/usr/bin/env bash
# kill.sh PROGRAM [KILLS] [TERMS]: ends a small training by kill -9, then by SIGTERM, so many times at random moments,
# starts it again each time, and compares every finished run, byte by byte, with one that nobody interrupted.
set -uo pipefail
program=$(realpath "$1") kills=${2:-50} terms=${3:-20}
. "$(dirname "$0")/corpus.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
RANDOM=${SEED:-$$}
echo "seed $RANDOM"
letters_corpus "$dir" 2000 1
small_recipe "$dir" <<'TOML'
[model]
encoder_layers = 2
decoder_layers = 2
d_model = 64
d_ff = 128
heads = 4
dropout = 0.1
[train]
batch_tokens = 1024
stop = "600u"
save = "5u"
validate = "60u"
keep = 3
average = 3
warmup = 50
TOML
arguments() { echo train "$dir/recipe.toml" --quiet --threads $((1 + RANDOM % 3)) --out; }
now() { date +%s%N; }

start=$(now)
"$program" $(arguments) "$dir/whole" || exit 1
took=$((($(now) - start) / 1000000))
echo "uninterrupted: $took ms"

# interrupt SIGNAL COUNT: each within the time that a fifteenth of the run takes, so that nearly every one gets further.
interrupt() {
  local signal=$1 wanted=$2 sent=0 finished=0 saving=0 pid code longest=$((took / 15 + 300))
  while [ "$sent" -lt "$wanted" ] || [ "$finished" -eq 0 ]; do
    "$program" $(arguments) "$dir/out" 2>"$dir/err" &
    pid=$!
    if [ "$sent" -lt "$wanted" ]; then
      sleep "$(printf '%d.%03d' $((RANDOM * longest / 32768 / 1000)) $((RANDOM * longest / 32768 % 1000)))"
      kill "-$signal" "$pid" 2>/dev/null
    fi
    wait "$pid" 2>/dev/null
    code=$?
    compgen -G "$dir/out/checkpoints/*.staged-*" >/dev/null && saving=$((saving + 1))
    case $code in
      0)
        same_run "$dir/whole" "$dir/out" || { echo "FAILED: other bits after $sent times SIG$signal"; exit 1; }
        finished=$((finished + 1))
        [ "$sent" -lt "$wanted" ] && rm -rf "$dir/out"
        ;;
      137 | 75 | 143) sent=$((sent + 1)) ;;
      *)
        echo "FAILED: exit $code after $sent times SIG$signal:"
        cat "$dir/err"
        exit 1
        ;;
    esac
  done
  echo "$sent times SIG$signal ($saving in the middle of a save), $finished finished: same bytes"
  rm -rf "$dir/out"
}
interrupt KILL "$kills"
interrupt TERM "$terms"
