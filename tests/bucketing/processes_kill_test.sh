#!/bin/bash
# processes_kill_test.sh MPI_TEST PROGRAM [KILLS]: a process alone, or several whose data ends at different
# times, one or all of them killed by SIGKILL at random moments, or sent SIGTERM, and started again with the
# same command line, end with the last and the best states and the parameters of the best epoch of those
# that were not killed, byte for byte.
# By default a few kills of four kinds of training; with COOPER_KILLS=30, or the argument, so many of
# each of all kinds. COOPER_KINDS="1 alone;3 plain" chooses the kinds.
set -euo pipefail
mpi=$PWD/$1
program=$2
kills=${3:-${COOPER_KILLS:-}}
dir=$TEST_TMPDIR
RANDOM=${COOPER_SEED:-17}
epochs=6

run() {
  if ((processes == 1)); then
    exec "$program" "$dir/$1" "$epochs" "$kind"
  else
    "$mpi" "$processes" "$program" "$dir/$1" "$epochs" "$kind"
  fi
}

# The same files of states in both, the best one too, with the same bytes.
compare() {
  local rank file
  for ((rank = 0; rank < processes; ++rank)); do
    diff <(cd "$dir" && ls whole-rank"$rank"*.state | sed s/whole//) \
      <(cd "$dir" && ls killed-rank"$rank"*.state | sed s/killed//)
    for file in "$dir"/whole-rank"$rank"{-*.state,.params}; do
      cmp "$file" "${file/whole/killed}"
    done
    [[ -e $dir/whole-rank$rank-best.state ]]
  done
}

# Starts the processes, waits until all tell their numbers, and sends after $1 ms the signal $2 to one of
# them or, with $3, to all. Returns 0 once they have ended by themselves.
run_for() {
  local pids=() rank pid
  rm -f "$dir"/killed-rank*.pid
  (run killed) > "$dir/killed.log" 2>&1 &
  pid=$!
  for ((rank = 0; rank < processes; ++rank)); do
    until [[ -s $dir/killed-rank$rank.pid ]]; do
      kill -0 "$pid" 2> /dev/null || { cat "$dir/killed.log"; exit 1; }
      sleep 0.01
    done
    pids+=("$(cat "$dir/killed-rank$rank.pid")")
  done
  sleep "$(awk -v ms="$1" 'BEGIN { print ms / 1000 }')"
  [[ $3 == all ]] || pids=("${pids[$((RANDOM % processes))]}")
  kill "-$2" "${pids[@]}" 2> /dev/null || true
  wait "$pid"
}

cases=("1 alone" "2 plain" "3 plain" "2 compressed" "3 compressed" "2 accumulated" "3 accumulated" "2 added" "3 added" "2 short" "3 short")
[[ -n $kills ]] || { kills=2 cases=("1 alone" "2 accumulated" "3 plain" "2 short"); }
[[ -z ${COOPER_KINDS:-} ]] || IFS=';' read -r -a cases <<< "$COOPER_KINDS"
for each in "${cases[@]}"; do
  read -r processes kind <<< "$each"
  rm -f "$dir"/*.state
  (run whole) > "$dir/whole.log"
  done=0 ends=0 resumed=0 anew=0
  while ((done < kills)); do
    which=one
    ((RANDOM % 3 == 0)) && which=all
    signal=KILL
    ((RANDOM % 6 == 0)) && signal=TERM
    if run_for $((RANDOM % 400)) "$signal" "$which"; then
      compare
      ends=$((ends + 1))
      rm -f "$dir"/killed*.state
    else
      done=$((done + 1))
    fi
    grep -q '^resumed' "$dir/killed.log" && resumed=$((resumed + 1))
    grep -q '^anew' "$dir/killed.log" && anew=$((anew + 1))
  done
  (run killed) > "$dir/killed.log" || { cat "$dir/killed.log"; exit 1; }
  compare
  echo "$processes processes, $kind: $done kills, $ends ends, $resumed resumed, $anew begun anew; equal"
done

# A kill during the first save: the others have a state, rank 1 has none.
processes=2 kind=plain
rm -f "$dir"/*.state
(run whole) > "$dir/whole.log"
for file in "$dir"/whole-rank0-0*.state; do cp "$file" "${file/whole/killed}"; done
(run killed) > "$dir/killed.log" 2>&1
grep -q 'the processes have no state in common, and begin anew' "$dir/killed.log"
compare
echo "begun anew without a state of rank 1; equal"
