#!/usr/bin/env bash
# disk_full.sh PROGRAM: a file system of 64 MB fills up in the middle of a save. One clear message, exit 6, the last
# checkpoint verifies; with room made, the same command ends with the same bytes. Exit 77: not allowed to mount here.
set -uo pipefail
program=$(realpath "$1")
if [ "${2:-}" != inside ]; then
  unshare --mount true 2>/dev/null || { echo "skipped: this user may not mount file systems (run it as root)"; exit 77; }
  exec unshare --mount "$0" "$program" inside
fi
. "$(dirname "$0")/corpus.sh"
dir=$(mktemp -d)
trap 'umount "$dir/disk" 2>/dev/null; rm -rf "$dir"' EXIT
mkdir "$dir/disk"
mount -t tmpfs -o size=64m none "$dir/disk" || { echo "skipped: no tmpfs can be mounted here"; exit 77; }
letters_corpus "$dir" 300 1
small_recipe "$dir" <<'TOML'
[model]
encoder_layers = 1
decoder_layers = 1
d_model = 256
d_ff = 256
heads = 4
[train]
batch_tokens = 512
stop = "14u"
validate = "2u"
TOML
fail() {
  echo "FAILED: $1"
  cat "$dir/err"
  exit 1
}
train() { "$program" train "$dir/recipe.toml" --out "$1" --quiet 2>"$dir/err"; }
train "$dir/whole" || fail "the run on a large disk"

train "$dir/disk/out"
code=$?
[ $code -eq 6 ] || fail "exit $code instead of 6"
grep -q "^attune train: cannot write $dir/disk/out/.*No space left on device (.* were to be written, .* free)" "$dir/err" ||
  fail "the message"
[ "$(grep -vc '^  fix: ' "$dir/err")" -eq 1 ] || fail "more than one line"
last=$(ls -d "$dir"/disk/out/checkpoints/step-* | tail -1)
echo "full at $(du -sm "$dir/disk" | cut -f1) MB: $(head -1 "$dir/err")"
"$program" info "$last" >"$dir/info" 2>&1 || fail "the last checkpoint, $last, does not verify: $(cat "$dir/info")"
compgen -G "$dir/disk/out/checkpoints/*.staged-*" >/dev/null && fail "something half written was left behind"

train "$dir/disk/out"  # still full: the same again
[ $? -eq 6 ] || fail "exit on a disk that is still full"
mount -o remount,size=512m "$dir/disk"
train "$dir/disk/out" || fail "going on with room made"
same_run "$dir/whole" "$dir/disk/out" || fail "other bytes than without a full disk"
echo "went on from $(basename "$last"): same bytes"
