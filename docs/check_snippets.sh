#!/bin/bash
# check_snippets.sh PAGE... -- SOURCE...: the lines of each block of C++ in the pages stand, in this
# order, in one of the sources. Lines may be left out; indentation does not count.
set -euo pipefail

pages=()
while [[ $1 != -- ]]; do
  pages+=("$1")
  shift
done
shift

awk -v num_pages="${#pages[@]}" '
  function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
  FNR == 1 { ++file; name[file] = FILENAME; in_block = 0 }
  file > num_pages { source[file, ++lines[file]] = trim($0); next }
  /^```cpp/ { in_block = 1; ++blocks; page[blocks] = FILENAME ":" FNR; next }
  /^```/ { in_block = 0; next }
  in_block && trim($0) != "" { block[blocks, ++length_of[blocks]] = trim($0) }
  END {
    if (blocks == 0) { print "no block of C++ was found"; exit 1 }
    for (b = 1; b <= blocks; ++b) {
      best = 0
      for (f = num_pages + 1; f <= file; ++f) {
        k = 1
        for (i = 1; i <= lines[f] && k <= length_of[b]; ++i) if (source[f, i] == block[b, k]) ++k
        if (k > best) best = k
      }
      if (best <= length_of[b]) {
        print page[b] ": this line is in no source, or not in this order:\n  " block[b, best]
        failed = 1
      }
    }
    print blocks " blocks in " num_pages " pages"
    exit failed
  }' "${pages[@]}" "$@"
