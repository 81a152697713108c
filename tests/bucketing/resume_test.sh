#!/bin/bash
# A run killed by SIGKILL goes on with --resume and ends with the parameters of one that was not
# killed, byte for byte: killed within the first epoch, and again within the second.
set -euo pipefail
program=$PWD/$1
cd "$TEST_TMPDIR"

awk 'BEGIN { srand(7); for (i = 0; i < 300; ++i) { n = 3 + int(rand() * 16); line = "";
  for (j = 0; j < n; ++j) line = line " w" int(rand() * 30); print substr(line, 2) } }' > text
flags=(--train=text --buckets=6,12,18 --batch_size=8 --num_hidden=12 --num_embed=12 --num_layers=1
  --num_epochs=3 --optimizer=adam --threads=1 --disp_batches=1 --checkpoint_batches=4)

"$program" "${flags[@]}" --checkpoint_prefix=whole > whole.log

# run_and_kill N ARGS: kills the program once it has shown N progress lines after a checkpoint.
run_and_kill() {
  local lines=$1
  shift
  "$program" "${flags[@]}" --checkpoint_prefix=killed "$@" > killed.log &
  local pid=$!
  while kill -0 "$pid" 2> /dev/null; do
    if [[ -f killed.state && $(grep -c batch killed.log || true) -ge $lines ]]; then
      kill -KILL "$pid"
      break
    fi
    sleep 0.01
  done
  wait "$pid" 2> /dev/null && echo "note: the run ended before it was killed"
  return 0
}

run_and_kill 6
run_and_kill 40 --resume
"$program" "${flags[@]}" --checkpoint_prefix=killed --resume > resumed.log
grep -q '^resumed in epoch' resumed.log
cmp whole-0003.params killed-0003.params
echo "equal"
