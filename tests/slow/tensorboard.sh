#!/usr/bin/env bash
# tensorboard.sh PROGRAM: TensorBoard itself reads a run's event file, which was interrupted and went on, and finds the
# numbers of metrics.jsonl. Exit 77: TensorBoard is not installed here.
set -euo pipefail
program=$(realpath "$1")
python3 -c "import tensorboard" 2>/dev/null || { echo "skipped: there is no TensorBoard here (pip install tensorboard)"; exit 77; }
. "$(dirname "$0")/corpus.sh"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
letters_corpus "$dir" 300 1
small_recipe "$dir" <<'TOML'
[model]
encoder_layers = 1
decoder_layers = 1
d_model = 32
d_ff = 32
heads = 2
[train]
batch_tokens = 512
stop = "300u"
validate = "50u"
average = 2
keep = 2
TOML
"$program" train "$dir/recipe.toml" --out "$dir/run" --quiet --set train.stop=120u
"$program" train "$dir/recipe.toml" --out "$dir/run" --quiet
python3 "$(dirname "$0")/read_events.py" "$dir/run"
