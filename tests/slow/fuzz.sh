#!/usr/bin/env bash
# fuzz.sh SECONDS|RUNSr [FORMAT...]: each reader of tests/fuzz/formats.cc under libFuzzer and AddressSanitizer, for so many
# seconds or so many runs (1000000r). What breaks one is left in build-fuzz/found. Exit code 77 where there is no clang.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ $# -ge 1 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
limit=$1
shift
tools/bootstrap fuzz || { echo "no clang"; exit 77; }
clang=$(command -v clang++-16 || command -v clang++) || { echo "no clang"; exit 77; }
if [ ! -f build-fuzz/build.ninja ]; then
  cmake -B build-fuzz -G Ninja -DCMAKE_CXX_COMPILER="$clang" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG='-O1 -g1' \
    -DATTUNE_SANITIZE=fuzzer-no-link,address >/dev/null
fi
ninja -C build-fuzz attune_fuzz >/dev/null
fuzz=build-fuzz/tests/attune_fuzz
mkdir -p build-fuzz/found
formats=("$@")
[ $# -gt 0 ] || read -ra formats <<<"$(ATTUNE_FUZZ_FORMAT= $fuzz 2>&1 | sed -n 's/.*one of //p')"
case $limit in
  *r) options=(-runs="${limit%r}") ;;
  *) options=(-max_total_time="$limit") ;;
esac
for format in "${formats[@]}"; do
  corpus=build-fuzz/corpus/$format
  mkdir -p "$corpus"
  export ATTUNE_FUZZ_FORMAT=$format
  $fuzz --seeds "$corpus"
  printf '%s: ' "$format"
  $fuzz "$corpus" "${options[@]}" -max_len=4096 -timeout=10 -rss_limit_mb=512 -artifact_prefix=build-fuzz/found/"$format"- \
    -print_final_stats=1 2>"build-fuzz/$format.log" || { tail -n 30 "build-fuzz/$format.log"; exit 1; }
  sed -n 's/^stat::number_of_executed_units: */runs: /p' "build-fuzz/$format.log"
done
