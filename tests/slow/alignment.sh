#!/usr/bin/env bash
# alignment.sh BUILD [UPDATES]: how well attention tells which letter came from which, with train.guide and without, same
# seed: models of recipes/tasks, on test lines whose true alignment is known. The guide must make the error rate at most
# half of what it is without, and cost no more than 1 % of the right answers.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$(realpath "$1") updates=${2:-1500}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
ninja -C "$build" generate_tasks >/dev/null
"$build/generate_tasks" "$dir/data"

# align TASK SOURCE: the true links. A letter that is there twice has possible links only when letters are sorted.
align() {
  awk -v task="$1" '{
    line = ""
    if (task == "sort") {
      for (i = 1; i <= NF; ++i) { letter[i] = $i; count[$i]++ }
      t = 0
      for (c = 97; c < 123; ++c) {
        l = sprintf("%c", c)
        for (n = 0; n < count[l]; ++n) {
          for (i = 1; i <= NF; ++i)
            if (letter[i] == l) line = line (i - 1) (count[l] > 1 ? "p" : "-") t " "
          ++t
        }
      }
      delete count
    } else
      for (i = 0; i < NF; ++i) line = line (task == "copy" ? i : NF - 1 - i) "-" i " "
    print line
  }' "$2"
}

# error_rate TASK NAME SETTING...: trains, and prints the alignment error rate and the share of right lines.
error_rate() {
  local task=$1 out="$dir/$2"
  local sets=(--set "train.stop=${updates}u")
  shift 2
  for s in "$@"; do sets+=(--set "$s"); done
  cp "recipes/tasks/$task.toml" "$dir/$task.toml"
  "$build/attune" train "$dir/$task.toml" --out "$out" --quiet "${sets[@]}" >/dev/null
  local target="$dir/data/test.$([ "$task" = copy ] && echo letters || echo "$task")"
  local score='s/.*"score":\([0-9.]*\).*/\1/p'
  "$build/attune" translate "$out" "$dir/data/test.letters" --align-to "$target" --quiet |
    "$build/attune" metric aer --ref "$dir/test.$task.align" --json | sed -n "$score"
  "$build/attune" translate "$out" "$dir/data/test.letters" --beam 1 --quiet |
    "$build/attune" metric exact --ref "$target" --json | sed -n "$score"
}

printf '%-8s %-10s %12s %12s %12s %12s\n' task guide 'AER plain' 'AER guided' 'exact plain' 'exact guided'
failed=0
for task in copy reverse sort; do
  for part in train test; do align $task "$dir/data/$part.letters" >"$dir/$part.$task.align"; done
  kind=alignment
  [ $task = copy ] && kind=diagonal
  plain=($(error_rate $task plain-$task))
  guided=($(error_rate $task guided-$task "data.alignment=[\"$dir/train.$task.align\"]" \
    "train.guide={weight = 1.0, kind = \"$kind\", sigma = 0.1}"))
  printf '%-8s %-10s %12.2f %12.2f %12.2f %12.2f\n' $task $kind "${plain[0]}" "${guided[0]}" "${plain[1]}" "${guided[1]}"
  awk -v p="${plain[0]}" -v g="${guided[0]}" -v a="${plain[1]}" -v b="${guided[1]}" \
    'BEGIN { exit !(g <= p / 2 && b >= a - 1) }' || failed=1
done
exit $failed
