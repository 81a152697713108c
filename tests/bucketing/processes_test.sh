#!/bin/bash
# processes_test.sh MPI_TEST PROGRAM: two processes with half the batch each train like one process
# with the whole batch. A run that ends between two epochs and continues with --resume has the
# parameters of an uninterrupted one, byte for byte.
set -euo pipefail
dir=$TEST_TMPDIR
awk 'BEGIN { srand(7); for (i = 0; i < 300; ++i) { n = 3 + int(rand() * 16); line = "";
  for (j = 0; j < n; ++j) line = line " w" int(rand() * 30); print substr(line, 2) } }' > "$dir/text"
# 16 sentences for each bucket: batches of 4 and of 8 leave none over.
awk 'BEGIN { srand(8); for (i = 0; i < 48; ++i) { n = 5 + 6 * (i % 3); line = "";
  for (j = 0; j < n; ++j) line = line " w" int(rand() * 30); print substr(line, 2) } }' > "$dir/valid"
flags=("--train=$dir/text" "--valid=$dir/valid" --buckets=6,12,18 --num_hidden=12 --num_embed=12
  --num_layers=1 --optimizer=sgd --mom=0.9 --lr=0.1 --threads=1)
one() { "./$2" "${flags[@]}" --batch_size=8 "${@:3}"; }
two() { "$1" 2 "$2" "${flags[@]}" --batch_size=4 --kvstore=dist_sync "${@:3}"; }

one "$@" --num_epochs=4 --json="$dir/one.json" > "$dir/one.log"
two "$@" --num_epochs=4 --json="$dir/two.json" --checkpoint_prefix="$dir/two" \
  --profile="$dir/two.trace" --profile_batches=2 > "$dir/two.log"
grep 'batches of 4 in each of 2 parts' "$dir/two.log"
[[ $(grep -c 'validation perplexity' "$dir/two.log") -eq 4 ]] || { echo "not one table"; exit 1; }
grep -q "^trace: $dir/two.trace" "$dir/two.log"
for part in '"pid":0,' '"pid":1,'; do
  file=$dir/two.trace
  [[ $part == *1* ]] && file=$dir/two-rank1.trace
  [[ $(grep '"name":"update"' "$file" | grep -c "$part") -eq 2 ]] ||
    { echo "no two updates in $file"; exit 1; }
done
values() { sed -E "s/.*\"$2\":([0-9.]+).*/\\1/" "$1"; }
[[ "$(values "$dir/one.json" batches)" == "$(values "$dir/two.json" batches)" ]] ||
  { echo "other steps"; cat "$dir/one.json" "$dir/two.json"; exit 1; }
# The parameters differ in the order of sums only.
paste <(values "$dir/one.json" valid_perplexity) <(values "$dir/two.json" valid_perplexity) |
  awk '{ print "validation perplexity", $1, $2; d = $1 / $2 - 1; if (d * d > 1e-10) bad = 1 }
       END { exit bad || NR != 4 }'

two "$@" --num_epochs=2 --checkpoint_prefix="$dir/parted" > /dev/null
two "$@" --num_epochs=4 --checkpoint_prefix="$dir/parted" --resume > "$dir/parted.log"
grep -q '^resumed in epoch' "$dir/parted.log"
cmp "$dir/two-0004.params" "$dir/parted-0004.params"
echo equal
