#!/usr/bin/env bash
# Training speed beside PyTorch's on the same work: README.md says what is compared and how to read the table.
set -euo pipefail

usage() {
  cat <<'END'
usage: train.sh --peers DIR --data DIR [option]...

Runs `attune bench train` and the peer by turns on this machine and prints one table.

  --peers DIR     where pytorch_train.py is
  --data DIR      where train.en.gz, train.de.gz, val.en.gz and val.de.gz are
  --python PATH   a Python that has PyTorch; again for each further one (default: /usr/bin/python3)
  --compile       each of them compiled (torch.compile), too
  --models LIST   which of tiny,base (default: both)
  --rounds N      how often each is run (default: 3)
  --updates N     updates of each run, its warm-up not counted (default: 20)
  --threads N     threads of attune; it and the peer also run with one (default: 2)
  --attune PATH   the program (default: build/attune of this source tree)
  --json FILE     all figures as JSON, too

example: bench/peers/train.sh --peers peers --data multi30k
example: bench/peers/train.sh --peers peers --data data --python /opt/new/bin/python --compile --models tiny --rounds 1
END
}

die() {
  printf 'train.sh: %s\n' "$1" >&2
  exit "${2:-2}"
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
peers='' data='' compile=0 models=tiny,base rounds=3 updates=20 threads=2 json=''
attune=$here/../../build/attune
pythons=()
while [ $# -gt 0 ]; do
  case $1 in
    --help | -h) usage && exit 0 ;;
    --compile) compile=1 && shift && continue ;;
    --peers | --data | --python | --models | --rounds | --updates | --threads | --attune | --json) ;;
    *) die "unknown option '$1'"$'\n''  fix: see train.sh --help' ;;
  esac
  [ $# -ge 2 ] || die "$1 needs a value"
  case $1 in
    --python) pythons+=("$2") ;;
    *) printf -v "${1#--}" %s "$2" ;;
  esac
  shift 2
done
[ ${#pythons[@]} -gt 0 ] || pythons=(/usr/bin/python3)
for count in rounds updates threads; do
  [[ ${!count} =~ ^[1-9][0-9]{0,5}$ ]] || die "--$count is a number from 1 on, not '${!count}'"
done
[ -f "$peers/pytorch_train.py" ] || die "--peers: no pytorch_train.py in '$peers'"
for file in {train,val}.{en,de}.gz; do
  [ -f "$data/$file" ] || die "--data: no $file in '$data'"
done
data=$(cd "$data" && pwd)
command -v "$attune" >/dev/null || die "no program '$attune'"$'\n''  fix: make, or --attune PATH'
for python in "${pythons[@]}"; do
  "$python" -c 'import torch' 2>/dev/null || die "'$python' has no PyTorch"$'\n''  fix: --python PATH of one that has'
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/runs"

# The number (or text) under a key of a one-line JSON object.
value_of() { sed -n "s/.*\"$1\": *\"\{0,1\}\([^\",}]*\).*/\1/p" "$2" | tail -n 1; }

# The share of this machine's processors, in percent, that somebody uses while we don't.
busy() {
  [ -r /proc/stat ] || { echo 0 && return; }
  { head -n 1 /proc/stat && sleep 0.3 && head -n 1 /proc/stat; } | awk '
    { idle = $5 + $6; all = 0; for (i = 2; i <= 9; ++i) all += $i; if (NR == 1) { idle0 = idle; all0 = all } }
    END { d = all - all0; printf "%d", (d > 0 ? 100 * (1 - (idle - idle0) / d) : 0) }'
}

# run MODEL KEY THREADS COMMAND...: one run, a line in $work/runs. KEY tells the programs apart and orders the table.
run() {
  local model=$1 key=$2 n=$3 load
  shift 3
  load=$(busy)
  [ "$load" -le 10 ] ||
    printf 'train.sh: warning: %s %% of the machine is in use by others: this run does not count\n' "$load" >&2
  "$@" >"$work/out" 2>"$work/err" </dev/null || return 1
  local speed name
  speed=$(value_of target_tokens_per_s "$work/out")
  [ -n "$speed" ] || { echo "no target_tokens_per_s in what it printed" >>"$work/err" && return 1; }
  name=$(value_of peer "$work/out")
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$model" "$key" "${name:-attune}" "$n" "$speed" \
    "$(value_of peak_rss_mb "$work/out")" "$(value_of share_of_gemm_peak "$work/out")" "$load" >>"$work/runs"
  printf '  %-5s %-32s %s thread(s) %10s tokens/s\n' "$model" "${name:-attune}" "$n" "$speed" >&2
}

run_attune() {  # MODEL THREADS
  run "$1" 0 "$2" "$attune" bench train "$here/$1.toml" --json --threads "$2" --updates "$updates" \
    --set "data.train=[\"$data/train.en.gz\", \"$data/train.de.gz\"]" \
    --set "data.valid=[\"$data/val.en.gz\", \"$data/val.de.gz\"]" ||
    die "attune bench train failed: $(tail -n 2 "$work/err")" 1
}

declare -A sizes=([tiny]='--layers 4 --d-model 128 --d-ff 256 --heads 4'
  [base]='--layers 6 --d-model 512 --d-ff 2048 --heads 8')
declare -A missing=()  # what failed once is not tried again
run_peer() {  # MODEL KEY THREADS PYTHON [--compile]
  [ -z "${missing[$1 $2]:-}" ] || return 0
  # shellcheck disable=SC2086  # sizes are words
  run "$1" "$2" "$3" "$4" "$peers/pytorch_train.py" --src "$data/train.en.gz" --tgt "$data/train.de.gz" ${sizes[$1]} \
    --vocab 8000 --batch-tokens 4096 --dropout 0.1 --steps "$updates" --warm 3 --threads "$3" "${@:5}" && return 0
  missing[$1 $2]=1
  printf 'train.sh: warning: %s %s is left out: %s\n' "$4" "${*:5}" "$(tail -n 1 "$work/err")" >&2
}

counts=(1)
[ "$threads" -eq 1 ] || counts+=("$threads")
for model in ${models//,/ }; do
  [ -n "${sizes[$model]:-}" ] || die "--models: '$model' is none of tiny, base"
done
for ((round = 1; round <= rounds; ++round)); do
  echo "round $round of $rounds" >&2
  for model in ${models//,/ }; do
    for n in "${counts[@]}"; do
      run_attune "$model" "$n"
      key=0
      for python in "${pythons[@]}"; do
        run_peer "$model" $((++key)) "$n" "$python"
        ((++key))
        [ "$compile" = 0 ] || run_peer "$model" "$key" "$n" "$python" --compile
      done
    done
  done
done
awk -v threads="$threads" -v json="$json" -f "$here/table.awk" "$work/runs"
