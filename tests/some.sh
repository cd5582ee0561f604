#!/usr/bin/env bash
# some.sh TESTS: those that ATTUNE_ONLY names ('Trust*:File*', a filter of GoogleTest), or all, but for ToyTask. To name
# none is an error, or a slip would pass.
set -euo pipefail
only=${ATTUNE_ONLY:-*}
case $only in
  *-*) only=$only:ToyTask* ;;
  *) only=$only-ToyTask* ;;
esac
if [ -z "$(env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX "$1" --gtest_list_tests --gtest_filter="$only" | grep '^  ')" ]; then
  echo "ONLY='${ATTUNE_ONLY:-}' names no test: it is a filter of GoogleTest, such as 'Trust*:*File*'"
  exit 1
fi
exec "$1" --gtest_brief=1 --gtest_filter="$only"
