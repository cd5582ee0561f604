# The table (and with json=FILE the JSON) of train.sh's runs, a line each:
# model, key of the program (0: attune), its name, threads, tokens/s, peak MB, share of peak, busy %.
BEGIN {
  FS = "\t"
  RATIO = "{\"peer\": %s, \"threads\": %d, \"best\": %.3f, \"median\": %.3f, \"peak_rss\": %.3f}"
  RUN = "{\"program\": %s, \"threads\": %d, \"target_tokens_per_s\": [%s], \"best\": %.1f, \"median\": %.1f, " \
    "\"peak_rss_mb\": %.1f%s}"
  MODEL = " {\"model\": %s%s,\n  \"ratios\": [%s],\n  \"runs\": [%s]}"
}
{
  id = $1 SUBSEP $2 SUBSEP $4
  if (!(id in n)) { order[++ids] = id; model[id] = $1; key[id] = $2; count[id] = $4 }
  if (!($1 in seen)) { seen[$1] = 1; models[++model_count] = $1 }
  name[id] = $3
  speed[id, ++n[id]] = $5
  if ($6 > rss[id]) rss[id] = $6
  shares[id] = shares[id] " " $7
  if ($8 > 10) ++disturbed
}
function sort_speeds(id,    i, j, t) {
  for (i = 2; i <= n[id]; ++i)
    for (j = i; j > 1 && speed[id, j - 1] + 0 > speed[id, j] + 0; --j) {
      t = speed[id, j]; speed[id, j] = speed[id, j - 1]; speed[id, j - 1] = t
    }
}
function median(id) { return (speed[id, int((n[id] + 1) / 2)] + speed[id, int(n[id] / 2) + 1]) / 2 }
function share(id,    parts, k, i, most) {
  k = split(shares[id], parts, " ")
  for (i = 1; i <= k; ++i) if (parts[i] > most) most = parts[i]
  return most + 0
}
function ratio(a, b) { return b > 0 ? a / b : 0 }
function quoted(s) { gsub(/["\\]/, "", s); return "\"" s "\"" }
END {
  for (i = 1; i <= ids; ++i) {
    id = order[i]
    sort_speeds(id)
    best[id] = speed[id, n[id]]
    middle[id] = median(id)
    group = model[id] SUBSEP key[id]
    if (!(group in fastest) || middle[id] > middle[fastest[group]]) fastest[group] = id
    if (best[id] > most[group]) most[group] = best[id]
    if (!(group in least) || rss[id] < least[group]) least[group] = rss[id]
  }
  form = "%-5s  %-34s %7s %10s %10s %8s %8s %9s %7s %7s\n"
  printf form, "", "", "", "tokens/s", "tokens/s", "attune:", "", "peak", "attune:", "share"
  printf form, "model", "program", "threads", "best", "median", "x best", "x median", "RSS MB", "RSS", "of peak"
  text = ""
  for (m = 1; m <= model_count; ++m) {
    ours = models[m] SUBSEP 0 SUBSEP threads
    one = models[m] SUBSEP 0 SUBSEP 1
    runs = ratios = ""
    for (k = 0; k < 100; ++k)
      for (i = 1; i <= ids; ++i) {
        id = order[i]
        if (model[id] != models[m] || key[id] != k) continue
        group = model[id] SUBSEP k
        chosen = id == fastest[group]
        x_best = x_median = x_rss = part = ""
        if (k > 0) {
          x_best = sprintf("%.2f", ratio(best[ours], best[id]))
          x_median = sprintf("%.2f", ratio(middle[ours], middle[id]))
          x_rss = sprintf("%.2f", ratio(rss[ours], rss[id]))
          if (chosen)
            ratios = ratios (ratios == "" ? "" : ", ") sprintf(RATIO, quoted(name[id]), count[id], \
              ratio(best[ours], most[group]), ratio(middle[ours], middle[id]), ratio(rss[ours], least[group]))
        } else {
          part = sprintf("%.1f %%", 100 * share(id))
        }
        printf form, models[m], name[id], count[id] (k > 0 && chosen ? " *" : "  "), sprintf("%.0f", best[id]), \
          sprintf("%.0f", middle[id]), x_best, x_median, sprintf("%.0f", rss[id]), x_rss, part
        all = ""
        for (j = 1; j <= n[id]; ++j) all = all (j > 1 ? ", " : "") speed[id, j]
        runs = runs (runs == "" ? "" : ",\n           ") sprintf(RUN, quoted(name[id]), count[id], all, best[id], \
          middle[id], rss[id], k ? "" : sprintf(", \"share_of_gemm_peak\": %.4f", share(id)))
      }
    scaling = ""
    if (one != ours) {
      by_best = ratio(best[ours], best[one])
      by_median = ratio(middle[ours], middle[one])
      scaling = sprintf(", \"thread_scaling\": {\"best\": %.3f, \"median\": %.3f}", by_best, by_median)
      notes = notes sprintf("%s: attune with %d threads is %.2f times attune with one (best; median %.2f).\n", \
        models[m], threads, by_best, by_median)
    }
    text = text (m > 1 ? ",\n" : "") sprintf(MODEL, quoted(models[m]), scaling, ratios, runs)
  }
  printf "\n* the peer's faster number of threads: the row that counts.\n"
  printf "x and RSS: attune with %d threads over that row.\n%s", threads, notes
  if (disturbed)
    printf "warning: others used the machine before %d of %d runs: these figures don't count.\n", disturbed, NR
  if (json != "")
    printf "{\"threads\": %d, \"disturbed_runs\": %d, \"models\": [\n%s\n]}\n", threads, disturbed, text > json
}
