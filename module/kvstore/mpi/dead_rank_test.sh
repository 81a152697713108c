#!/bin/bash
# dead_rank_test.sh MPI_TEST PROGRAM: one of three processes is killed, or ends with an error; the
# two others must report it, and exit, within 10 seconds.
set -euo pipefail
for way in kill error; do
  folder="$TEST_TMPDIR/$way"
  mkdir -p "$folder"
  begin=$SECONDS
  if "$1" 3 "$2" "$folder" "$way"; then
    echo "a run in which a process ended early ended well ($way)" >&2
    exit 1
  fi
  if ((SECONDS - begin > 10)); then
    echo "it took $((SECONDS - begin)) s ($way)" >&2
    exit 1
  fi
  for rank in 0 2; do
    if ! grep -q "rank 1 of 3 is gone" "$folder/$rank"; then
      echo "rank $rank said: $(cat "$folder/$rank" 2>/dev/null || echo nothing) ($way)" >&2
      exit 1
    fi
  done
done
