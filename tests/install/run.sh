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
