#!/bin/bash
# stream_test.sh MPI_TEST PROGRAM MPI_PROGRAM [KILLS]: a run on compressed shards, of which it holds
# 20 sentences at a time, is killed by SIGKILL at random moments and continues with --resume each
# time; it ends with the parameters of an uninterrupted run, byte for byte. Three processes with
# shards of different sizes train together, and continue between epochs in the same way.
set -euo pipefail
mpi=$1
program=$PWD/$2
mpi_program=$3
kills=${4:-10}
dir=$TEST_TMPDIR

for shard in {1..7}; do
  awk -v seed="$shard" 'BEGIN { srand(seed); for (i = 0; i < 10 + 7 * seed; ++i) {
    n = 3 + int(rand() * 16); line = ""; for (j = 0; j < n; ++j) line = line " w" int(rand() * 30)
    print substr(line, 2) } }' | gzip > "$dir/shard-$shard.txt.gz"
done
flags=("--train=$dir/shard-*.txt.gz" --buckets=6,12,18 --batch_size=4 --pool_samples=20
  --num_hidden=12 --num_embed=12 --num_layers=1 --optimizer=adam --threads=1)
one=("${flags[@]}" --num_epochs=12 --checkpoint_batches=1)

"$program" "${one[@]}" "--checkpoint_prefix=$dir/whole" > "$dir/whole.log"
grep -q ' 3192 samples served,' "$dir/whole.log" || { tail -3 "$dir/whole.log"; exit 1; }
RANDOM=11
for ((i = 0; i < kills; ++i)); do
  "$program" "${one[@]}" "--checkpoint_prefix=$dir/killed" --resume > "$dir/killed.log" 2>&1 &
  pid=$!
  until compgen -G "$dir/killed-*.state" > /dev/null || ! kill -0 "$pid" 2> /dev/null; do
    sleep 0.01
  done
  sleep "0.$((10 + RANDOM % 30))"
  kill -KILL "$pid" 2> /dev/null || { echo "note: the run ended after $i kills"; break; }
  wait "$pid" 2> /dev/null || true
done
"$program" "${one[@]}" "--checkpoint_prefix=$dir/killed" --resume > "$dir/killed.log"
grep -q '^resumed in epoch' "$dir/killed.log"
cmp "$dir/whole-0012.params" "$dir/killed-0012.params"
echo "one process: equal"

three() { "$mpi" 3 "$mpi_program" "${flags[@]}" --kvstore=dist_sync "$@"; }
three --num_epochs=4 "--checkpoint_prefix=$dir/three" > "$dir/three.log"
grep 'epoch 4/4  train perplexity' "$dir/three.log"
three --num_epochs=2 "--checkpoint_prefix=$dir/parted" > /dev/null
three --num_epochs=4 "--checkpoint_prefix=$dir/parted" --resume > "$dir/parted.log"
grep -q '^resumed in epoch' "$dir/parted.log"
cmp "$dir/three-0004.params" "$dir/parted-0004.params"
echo "three processes: equal"
