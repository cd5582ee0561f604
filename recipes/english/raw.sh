#!/usr/bin/env bash
# raw.sh KIND FILE...: turns texts that are not lines into lines for recipes/english/prepare.sh, on the standard output.
#   reuters   JSON files of Reuters-21578, a "title" and a "body" a line each: lines of up to 60 words, tables left out
#   wordnet   WordNet's data.noun, data.verb, data.adj, data.adv: the words of a sense, a colon, what they mean
#   foldoc    the Free On-line Dictionary of Computing, foldoc.dict.dz or the text: a paragraph a line
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
kind=$1
shift
case $kind in
  reuters)
    LC_ALL=C awk '
      function text_of(line) {                               # the value of a key, its escapes undone
        sub(/^ *"[a-z]+": "/, "", line); sub(/",? *$/, "", line)
        gsub(/\\n/, "\n", line); gsub(/\\t/, " ", line); gsub(/\\u[0-9a-f][0-9a-f][0-9a-f][0-9a-f]/, " ", line); gsub(/\\"/, "\"", line); gsub(/\\\//, "/", line)
        gsub(/\\\\/, "\\", line)
        return line
      }
      function put(s) { sub(/^ +/, "", s); sub(/ *[Rr][Ee][Uu][Tt][Ee][Rr] *$/, "", s); sub(/ +$/, "", s); if (s != "") print s }
      /^ *"title": / { title = text_of($0); title = toupper(substr(title, 1, 1)) tolower(substr(title, 2)) }
      /^ *"body": / {
        now = title == "" ? "" : title " - "; title = ""
        count = split(text_of($0), parts, /\n    +/)
        for (i = 1; i <= count; i++) {
          p = parts[i]; gsub(/[ \n]+/, " ", p); sub(/^ /, "", p); sub(/ $/, "", p)
          if (p == "" || tolower(p) ~ /^reuter.?.?$/) continue
          digits = p; gsub(/[^0-9]/, "", digits)
          if (length(digits) >= 5 && length(digits) > 0.12 * length(p)) continue          # a table
          if (split(now p, words, " ") > 60) { put(now); now = p " " } else now = now p " "
        }
        if (split(now, words, " ") > 5) put(now)
      }' "$@" ;;
  wordnet)
    awk '/^ / { next } {
      at = index($0, " | "); split(substr($0, 1, at), f, " "); count = 0
      for (i = 1; i <= 2; i++) count = 16 * count + index("0123456789abcdef", substr(f[4], i, 1)) - 1
      words = ""
      for (i = 0; i < count; i++) { w = f[5 + 2 * i]; sub(/\(.*/, "", w); gsub(/_/, " ", w); words = words (i ? ", " : "") w }
      meaning = substr($0, at + 3); sub(/ +$/, "", meaning); print words ": " meaning }' "$@" ;;
  foldoc)
    for f in "$@"; do gzip -cdf "$f"; done | awk -v RS= '{ gsub(/[{}]/, ""); gsub(/[ \n\t]+/, " "); sub(/^ /, ""); if (NF >= 6) print }' ;;
  *) echo "raw.sh: $kind is none of reuters, wordnet, foldoc" >&2; exit 2 ;;
esac
