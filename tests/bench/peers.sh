#!/usr/bin/env bash
# bench/peers/train.sh with stand-ins for attune and for PyTorch: the ratios, the row that counts, what fails.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/peers" "$work/data"
touch "$work/peers/pytorch_train.py" "$work/data/"{train,val}.{en,de}.gz

# Speeds by the number of threads; the stand-in also checks how it is called.
cat >"$work/attune" <<'END'
#!/usr/bin/env bash
[ "$1 $2" = "bench train" ] && [ -f "$3" ] || exit 2
case "$*" in
  *"--threads 2"*"data.train=[\"/"*) echo '{"target_tokens_per_s": 8000.5, "share_of_gemm_peak": 0.655, "peak_rss_mb": 300}' ;;
  *"--threads 1"*) echo '{"target_tokens_per_s":4000,"share_of_gemm_peak":0.7,"peak_rss_mb":200}' ;;
  *) exit 3 ;;
esac
END
cat >"$work/python" <<'END'
#!/usr/bin/env bash
[ "$1" != -c ] || exit 0
case "$*" in
  *--compile*) echo "no compiler" >&2 && exit 1 ;;
  *"--threads 2"*) speed=1500 ;;
  *) speed=2000 ;;
esac
echo "{\"peer\": \"pytorch 9\", \"threads\": 2, \"target_tokens_per_s\": $speed, \"peak_rss_mb\": 1500}"
END
chmod +x "$work/attune" "$work/python"

run() {
  "$root/bench/peers/train.sh" --attune "$work/attune" --peers "$work/peers" --data "$work/data" \
    --python "$work/python" "$@" 2>"$work/err"
}
fail() {
  echo "FAILED: $1"
  cat "$work/out" "$work/err"
  exit 1
}

run --models tiny --rounds 2 --compile --json "$work/json" >"$work/out" || fail "the script ends with $?"
! grep -Eq 'line [0-9]+:' "$work/err" || fail "the script itself has an error"
grep -Eq '^tiny +attune +2 +8000 +8000 +300 +65.5 %' "$work/out" || fail "attune's own row"
grep -Eq '^tiny +pytorch 9 +1 \* +2000 +2000 +4.00 +4.00 +1500 +0.20' "$work/out" || fail "the peer's best row"
grep -Eq '^tiny +pytorch 9 +2 +1500 +1500 +5.33' "$work/out" || fail "the peer's other row"
grep -q 'tiny: attune with 2 threads is 2.00 times' "$work/out" || fail "scaling"
[ "$(grep -c 'is left out: no compiler' "$work/err")" = 1 ] || fail "a peer that can't run is named once"
grep -q '"ratios": \[{"peer": "pytorch 9", "threads": 1, "best": 4.000, "median": 4.000, "peak_rss": 0.200}\]' \
  "$work/json" || fail "JSON"
! run --models huge >"$work/out" || fail "an unknown model is refused"
! run --rounds 0 >"$work/out" || fail "no rounds are refused"
printf '#!/bin/sh\necho "out of memory" >&2; exit 8\n' >"$work/attune"
! run --models tiny --rounds 1 >"$work/out" || fail "attune's failure is one"
grep -q 'out of memory' "$work/err" || fail "attune's failure is shown"
echo "1 passed, 0 failed"
