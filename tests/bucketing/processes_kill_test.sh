#!/bin/bash
# processes_kill_test.sh MPI_TEST PROGRAM [KILLS]: one process, or several whose data ends at
# different times, are killed by SIGKILL at random moments (one or all of them) or get SIGTERM, and
# are started again with the same command line. The test checks that they end with the states and
# the parameters of an uninterrupted run, byte for byte: the last state, the best one, and the
# parameters of the best epoch.
#
# By default it makes a few kills of some kinds of training. COOPER_KILLS=30, or the argument, makes
# that many kills of all kinds. COOPER_KINDS="1 alone;3 plain" chooses the kinds.
set -euo pipefail
mpi=$PWD/$1
program=$2
kills=${3:-${COOPER_KILLS:-}}
dir=$TEST_TMPDIR
RANDOM=${COOPER_SEED:-17}
epochs=6

# Shards of different sizes, for streams.
for shard in {1..7}; do
  awk -v seed="$shard" 'BEGIN { srand(seed); for (i = 0; i < 10 + 7 * seed; ++i) {
    n = 1 + int(rand() * 9); line = ""; for (j = 0; j < n; ++j) line = line " w" 1 + int(rand() * 5)
    print substr(line, 2) } }' | gzip > "$dir/shard-$shard.txt.gz"
done

run() {
  local arguments=("$program" "$dir/$1" "$epochs" "$kind")
  [[ $kind != stream* ]] || arguments+=("$dir/shard-*.txt.gz")
  if ((processes == 1)); then
    exec "${arguments[@]}"
  else
    "$mpi" "$processes" "${arguments[@]}"
  fi
}

# Checks that both runs have the same state files with the same bytes, including the best state.
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

# Starts the processes, waits until all have written their process ids, and after $1 ms sends the
# signal $2 to one of them or, with $3, to all. Returns 0 if they have ended by themselves.
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

cases=("1 alone" "2 plain" "3 plain" "2 compressed" "3 compressed" "2 accumulated" "3 accumulated" "2 added" "3 added" "2 short" "3 short" "1 stream_alone" "3 stream")
[[ -n $kills ]] || { kills=2 cases=("1 alone" "2 accumulated" "3 plain" "2 short" "1 stream_alone" "3 stream"); }
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

# Imitates a kill during the first save: rank 0 has states, rank 1 has none.
processes=2 kind=plain
rm -f "$dir"/*.state
(run whole) > "$dir/whole.log"
for file in "$dir"/whole-rank0-0*.state; do cp "$file" "${file/whole/killed}"; done
(run killed) > "$dir/killed.log" 2>&1
grep -q 'the processes have no state in common, and begin anew' "$dir/killed.log"
compare
echo "begun anew without a state of rank 1; equal"
