#!/bin/bash
# resume_test.sh PROGRAM: a run that is killed by SIGKILL at 30 random moments, also while it writes
# a checkpoint, and continues with --resume each time, ends with the parameters of an uninterrupted
# run, byte for byte. A run that Ctrl-C ended does so too.
set -euo pipefail
program=$PWD/$1
cd "$TEST_TMPDIR"

awk 'BEGIN { srand(7); for (i = 0; i < 300; ++i) { n = 3 + int(rand() * 16); line = "";
  for (j = 0; j < n; ++j) line = line " w" int(rand() * 30); print substr(line, 2) } }' > text
flags=(--train=text --buckets=6,12,18 --batch_size=8 --num_hidden=12 --num_embed=12 --num_layers=1
  --num_epochs=40 --optimizer=adam --threads=1 --disp_batches=100 --checkpoint_batches=1)

"$program" "${flags[@]}" --checkpoint_prefix=whole > whole.log

# Starts or resumes the run, and sends it the signal $2 after $1 ms. Returns 0 if the run has ended
# by itself.
run_for() {
  "$program" "${flags[@]}" --checkpoint_prefix=killed --resume > killed.log 2>&1 &
  local pid=$!
  sleep "$(awk -v ms="$1" 'BEGIN { print ms / 1000 }')"
  kill "-$2" "$pid" 2> /dev/null || true
  wait "$pid" 2> /dev/null
}

kills=0
half=0
RANDOM=11
while ((kills < 30)); do
  if run_for $((20 + RANDOM % 120)) KILL; then
    echo "note: the run ended after $kills kills"
    break
  fi
  kills=$((kills + 1))
  half=$((half + $(find . -name 'killed-*.state.tmp*' | wc -l)))
done
echo "$kills kills, $half of them while a state was being written"

# Ctrl-C ends the run with an error that names the signal, and leaves a state.
if ! run_for 150 INT; then
  grep -q 'signal 2 ended the training' killed.log || { cat killed.log; exit 1; }
fi
"$program" "${flags[@]}" --checkpoint_prefix=killed --resume > resumed.log
grep -q '^resumed in epoch' resumed.log
cmp whole-0040.params killed-0040.params
[[ $(ls killed-*-*.state | wc -l) -eq 2 ]] || { echo "expected two states:"; ls killed-*; exit 1; }
echo "equal"

# Kills two short epochs after their first batches, without each pass and without any.
head -80 text > short_text
"$program" "${flags[@]}" '--disable_passes=?' 2> passes.log && exit 1
passes=$(sed -n 's/.*expected all or //p' passes.log | tr -d ,)
[[ "$passes" == *rnn_layers* && "$passes" == *in_place* ]] || { echo "passes: $passes"; exit 1; }
for pass in $passes all; do
  short=("${flags[@]}" --train=short_text --num_epochs=2 "--disable_passes=$pass")
  "$program" "${short[@]}" "--checkpoint_prefix=whole_$pass" > "whole_$pass.log"
  "$program" "${short[@]}" "--checkpoint_prefix=part_$pass" > "part_$pass.log" 2>&1 &
  pid=$!
  until compgen -G "part_$pass-*-*.state" > /dev/null || ! kill -0 "$pid" 2> /dev/null; do
    sleep 0.01
  done
  kill -KILL "$pid" 2> /dev/null || true
  wait "$pid" 2> /dev/null || true
  "$program" "${short[@]}" "--checkpoint_prefix=part_$pass" --resume > "part_$pass.log"
  grep -q '^resumed in epoch' "part_$pass.log"
  cmp "whole_$pass-0002.params" "part_$pass-0002.params"
done
echo "equal without each of $passes"
