#!/usr/bin/env bash
# table.sh RESULTS.JSONL [TIME]: the panel's table in Markdown: of each set and side the median over the seeds, and all of
# them behind it.
set -euo pipefail
[ $# -ge 1 ] && [ -f "$1" ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
awk -v only="${2:-}" '
  function field(name) { return match($0, "\"" name "\":\"?[^,\"}]*") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : "" }
  function clean(s) { gsub(/"/, "", s); return s }
  {
    set = clean(field("set")); side = clean(field("side")); time = clean(field("time")); score = clean(field("score"))
    if (only != "" && time != only) next
    key = set " | " time " | " clean(field("metric"))
    if (!(key in seen)) { seen[key]; order[++n] = key }
    digits = clean(field("metric")) == "bits_per_character" ? 3 : 1
    scores[key, side] = scores[key, side] " " sprintf("%." digits "f", score)
    seconds[key, side] = field("seconds")
  }
  function cell(key, side,   list, m, i, j, t) {
    m = split(scores[key, side], list, " ")
    if (m == 0) return "-"
    for (i = 1; i <= m; ++i) for (j = i + 1; j <= m; ++j) if (list[j] + 0 < list[i] + 0) { t = list[i]; list[i] = list[j]; list[j] = t }
    t = list[int((m + 1) / 2)]
    return t (m > 1 ? " (" substr(scores[key, side], 2) ")" : "")
  }
  END {
    print "| set | time | metric | `new` before | the recipe that ships | `new` now | seconds it took |"
    print "|---|---|---|---|---|---|---|"
    for (i = 1; i <= n; ++i) print "| " order[i] " | " cell(order[i], "before") " | " cell(order[i], "recipe") " | " cell(order[i], "new") " | " seconds[order[i], "new"] " |"
  }' "$1"
