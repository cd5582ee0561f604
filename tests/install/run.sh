#!/usr/bin/env bash
# run.sh BUILD_DIR COMPILER: installs into a folder of the build tree and builds a program against what is there.
set -euo pipefail
build=$1 compiler=$2 here=$(cd "$(dirname "$0")" && pwd)
root=$build/install-test
rm -rf "$root"
mkdir -p "$root"
cmake --install "$build" --prefix "$root/first" >/dev/null
mv "$root/first" "$root/moved" # nothing may remember where it was installed
prefix=$root/moved

"$prefix/bin/attune" --version
for file in share/attune/recipes/demo/recipe.toml share/attune/recipes/demo/train.en.gz share/man/man1/attune.1 share/bash-completion/completions/attune; do test -s "$prefix/$file"; done
bash -n "$prefix/share/bash-completion/completions/attune"
! grep -rl "$root/first" "$prefix/lib" --include='*.cmake' --include='*.pc'

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name attune.pc)")
export PKG_CONFIG_PATH
for static in "" --static; do
  # shellcheck disable=SC2086,SC2046
  "$compiler" -std=c++20 ${CXXFLAGS:-} "$here/main.cc" -o "$root/by_pkg_config" \
    $(pkg-config $static --cflags --libs attune)
  "$root/by_pkg_config"
done

cmake -S "$here" -B "$root/by_cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" >/dev/null
cmake --build "$root/by_cmake" >/dev/null
"$root/by_cmake/uses_attune"

# The examples, built against what is installed, with a small model of each kind.
cd "$root"
mkdir models
for ((i = 0; i < 200; ++i)); do
  set -- $((i % 7)) $((i * 3 % 5)) $((i * 11 % 6))
  echo "w$1 w$2 w$3" >>text
  printf '%s\tw%d w%d w%d\n' "$([ "$1" -gt 3 ] && echo high || echo low)" "$@" >>labels.tsv
  printf 'w%d\tB-W\nw%d\tO\nw%d\tO\n\n' "$@" >>tags.conll
done
recipe() { # NAME TASK FILES [LINES...]
  printf 'task = "%s"\n[data]\ntrain = [%s]\nvalid = [%s]\n%s\n[tokenizer]\nkind = "word"\n[model]\nencoder_layers = 1\ndecoder_layers = 1\nd_model = 16\nd_ff = 16\nheads = 2\n[train]\nstop = "20u"\nbatch_tokens = 256\naverage = 1\n' \
    "$2" "$3" "$3" "${4:-}" >"$1.toml"
}
recipe translate translate '"text", "text"'
recipe classify classify '"labels.tsv"'
recipe tag tag '"tags.conll"' 'columns = [1, 2]'
recipe generate language '"text"'
build_example() {
  # shellcheck disable=SC2046
  "$compiler" -std=c++20 -Wall -Wextra ${CXXFLAGS:-} "$here/../../examples/$1.cc" -o "$root/$1" $(pkg-config --cflags --libs attune)
}
build_example train
for task in translate classify tag generate; do
  "$root/train" $task.toml models/$task >train.log
  grep -q "after 20 updates" train.log
  build_example $task
done
build_example embed
[ "$("$root/translate" models/translate <text | wc -l)" -eq 200 ]
[ "$(cut -f2 labels.tsv | "$root/classify" models/classify | grep -cE '^(high|low)	0\.[0-9]+$')" -eq 200 ]
[ "$(head -3 text | "$root/tag" models/tag | wc -l)" -ge 3 ]
"$root/generate" models/generate "w1 w2" | grep -q "^w1 w2"
"$root/embed" models/translate text "w1 w3 w5" | grep -qE '^[0-9.e-]+	w'
# A program of 30 lines that has nothing but the package.
[ "$(wc -l <"$here/threads.cc")" -le 30 ]
cp "$here/threads.cc" .
# shellcheck disable=SC2046
"$compiler" -std=c++20 ${CXXFLAGS:-} threads.cc -o threads $(pkg-config --cflags --libs attune)
[ "$(head -20 text | ./threads models/translate models/classify | grep -cE '	(high|low)	0\.[0-9]+$')" -eq 20 ]
if "$root/classify" models/translate <text 2>error; then exit 1; fi
grep -q "is a model for another task" error
