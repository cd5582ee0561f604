# Sourced by the slow tests: letters_corpus DIR LINES SEED writes DIR/{train,valid}.{in,out}, lines of letters whose
# target is the source the other way round, and small_recipe DIR a recipe for them; more settings come from stdin.
letters_corpus() {
  awk -v lines="$2" -v seed="$3" -v dir="$1" 'BEGIN {
    srand(seed)
    for (i = 0; i < lines + 50; i++) {
      part = i < lines ? "train" : "valid"
      n = 3 + int(rand() * 10); s = t = ""
      for (j = 0; j < n; j++) {
        c = sprintf("%c", 97 + int(rand() * 20))
        s = s (j ? " " : "") c; t = c (j ? " " : "") t
      }
      print s > (dir "/" part ".in"); print t > (dir "/" part ".out")
    }
  }'
}

small_recipe() {
  cat >"$1/recipe.toml" <<'TOML'
task = "translate"
[data]
train = ["train.in", "train.out"]
valid = ["valid.in", "valid.out"]
[tokenizer]
kind = "word"
TOML
  cat >>"$1/recipe.toml"
}

# same_run A B: the models, the last checkpoints and their moments are the same bytes.
same_run() {
  local a b f
  a=$(ls -d "$1"/checkpoints/step-* | grep -E 'step-[0-9]+$' | tail -1) b=$(ls -d "$2"/checkpoints/step-* | grep -E 'step-[0-9]+$' | tail -1)
  [ "$(basename "$a")" = "$(basename "$b")" ] || { echo "last checkpoints: $a, $b"; return 1; }
  for f in model.safetensors manifest.json; do cmp "$1/$f" "$2/$f" || return 1; done
  for f in model.safetensors optimizer.safetensors; do cmp "$a/$f" "$b/$f" || return 1; done
}
