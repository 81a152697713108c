#!/bin/bash
# dead_rank_test.sh MPI_TEST PROGRAM: of three processes one is killed; the two others have to say so,
# and exit, within 10 seconds.
set -euo pipefail
folder="$TEST_TMPDIR/reports"
mkdir -p "$folder"
begin=$SECONDS
if "$1" 3 "$2" "$folder"; then
  echo "a run in which a process was killed ended well" >&2
  exit 1
fi
if ((SECONDS - begin > 10)); then
  echo "it took $((SECONDS - begin)) s" >&2
  exit 1
fi
for rank in 0 2; do
  if ! grep -q "rank 1 of 3 is gone" "$folder/$rank"; then
    echo "rank $rank said: $(cat "$folder/$rank" 2>/dev/null || echo nothing)" >&2
    exit 1
  fi
done
