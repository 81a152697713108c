#!/bin/bash
# Tests that errors on the command line give one line on standard error and exit status 1.
set -uo pipefail
program=$PWD/$1
cd "$TEST_TMPDIR"
: > empty
echo "a b c d e f g h" > long
echo "a b" > plain.gz
failed=0

expect_error() {
  local words=$1
  shift
  "$program" "$@" > out 2> err
  local status=$?
  if [[ $status -ne 1 || $(wc -l < err) -ne 1 ]] || ! grep -q -- "$words" err; then
    echo "FAILED: $* : status $status, expected 1 and one line with '$words', got:"
    cat err
    failed=1
  fi
}

expect_error "no_such_flag" --no_such_flag
expect_error "num_hidden" --num_hidden=many
expect_error "num_hidden=0" --num_hidden=0
expect_error "num_layers=2000000000: expected 1 to 1000" --num_layers=2000000000
expect_error "contexts=2000000000: expected 1 to 1000" --contexts=2000000000
expect_error "no-such-file" --train=no-such-file
expect_error "no sentence" --train=empty
expect_error "exceed the largest bucket" --train=long --buckets=2,4
expect_error "buckets=x: expected auto, mxnet or lengths" --buckets=x
expect_error "max_buckets=0" --max_buckets=0
expect_error "bucket_cost=-1" --bucket_cost=-1
expect_error "max_length=-1" --max_length=-1
expect_error "max_words=-1" --max_words=-1
expect_error "tokens_per_batch=-1" --tokens_per_batch=-1
expect_error "tokens_per_batch does not go with --kvstore=dist_sync" --tokens_per_batch=560 \
  --kvstore=dist_sync
expect_error "step_cost=seconds: expected length or flops" --step_cost=seconds
expect_error "step_cost=flops needs --buckets=auto" --step_cost=flops --buckets=10
expect_error "sort_batches=-1" --sort_batches=-1
expect_error "no sentence has 1 to 7 words (max_length)" --train=long --max_length=7
expect_error "none of the lengths of 1 sentences occurs 32 times" --train=long --buckets=mxnet
expect_error "--optimizer=adam --mom=0.9: .*momentum" --mom=0.9
expect_error "checkpoint_prefix" --resume
expect_error "checkpoint_prefix" --checkpoint_batches=5
expect_error "no/such is no folder" --json=no/such/file
expect_error "no/such is no folder" --checkpoint_prefix=no/such/lm
expect_error "lr=-1" --lr=-1
expect_error "lr=inf" --lr=inf
expect_error "lm_train_mpi" --kvstore=dist_sync
expect_error "gemm_precision=half" --gemm_precision=half
ONEDNN_MAX_CPU_ISA=AVX2 expect_error "gemm_precision=bfloat16: .*AVX-512 BF16 or AMX" \
  --gemm_precision=bfloat16
expect_error "profile=no/such/trace.json" --profile=no/such/trace.json
expect_error "no regular file" --profile="$PWD"
expect_error "json=/dev/null: it is no regular file" --json=/dev/null
expect_error "profile_batches=0" --profile=trace.json --profile_batches=0
expect_error "no bucket has the 32 sentences" --train=long --nouse_ignore
expect_error "unexpected argument" train.txt
# --train of several or compressed files.
expect_error "no file matches 'no-such-.*txt'" '--train=no-such-*.txt'
expect_error "none of 2 files has a word" --train=empty,empty
expect_error "plain.gz' is not compressed with gzip" --train=plain.gz
expect_error "step_cost=flops needs the longest sentence" --train=long,long --step_cost=flops
expect_error "buckets=mxnet needs all lengths" --train=long,long --buckets=mxnet
expect_error "pool_samples is 9, expected at least 32" --train=long,long --pool_samples=9
expect_error "no-such.vocab" --train=long,long --vocabulary=no-such.vocab
# These errors come before anything is read.
for flag in --cell=dense --optimizer=steepest; do
  expect_error "'${flag#*=}'" "$flag"
  [[ ! -s out ]] || { echo "FAILED: $flag shows more than an error:"; cat out; failed=1; }
done
[[ -z $(ls | grep trace) ]] || { echo "FAILED: left behind:"; ls; failed=1; }

# Tests that --profile writes and prints the operators of three batches with one update each.
awk 'BEGIN { srand(7); for (i = 0; i < 64; ++i) { line = "";
  for (j = 0; j < 4; ++j) line = line " w" int(rand() * 30); print substr(line, 2) } }' > text
small=(--train=text --buckets=4 --batch_size=8 --num_hidden=8 --num_embed=8 --num_layers=1
  --num_epochs=1 --cell=rnn)
"$program" "${small[@]}" --profile=trace.json --profile_batches=3 --json=run.json > out 2> err || failed=1
grep -q '"buckets":{"4":{"batches":8,' run.json || { echo "FAILED: no bucket in the file"; failed=1; }
grep -q '"arguments":\[.*"--json=run.json"\]' run.json || { echo "FAILED: no command in the file"; failed=1; }
updates=$(grep -c '"name":"update","cat":"step","ph":"X"' trace.json)
[[ $updates -eq 3 ]] || { echo "FAILED: a profile of $updates updates"; failed=1; }
grep -q '"name":"bucket 4"' trace.json || { echo "FAILED: no bucket"; failed=1; }
for words in '^operator .* of the limit$' '^_backward_fc_softmax_output .*%$' '^limit: .* GFLOP/s; of .* ms: ' \
  '^trace: trace.json$'; do
  grep -q "$words" out || { echo "FAILED: --profile does not show '$words'"; cat out err; failed=1; }
done

# Tests which buckets are chosen for sentences of 3, 4, 6 and 70 words.
for n in 3 3 3 4 6 6 70; do
  for ((i = 0; i < 8; ++i)); do printf 'w %.0s' $(seq "$n"); echo; done
done > lengths
expect_buckets() {
  local expected=$1
  shift
  "$program" --train=lengths --batch_size=8 --num_hidden=8 --num_embed=8 --num_layers=1 \
    --num_epochs=1 --cell=rnn "$@" > out 2> err
  local got
  got=$(sed -n 's/.*bucket \([0-9]*\): .*sentences.*/\1/p' out | paste -sd,)
  [[ $got == "$expected" ]] || { echo "FAILED: $*: buckets $got, not $expected"; cat out err; failed=1; }
}
expect_buckets 3,4,6
grep -q "48 sentences served, 0 left over, 8 discarded, .*, 0.0 % padding" out ||
  { echo "FAILED: no report of the padding"; cat out; failed=1; }
# Batches of 7 leave sentences over: training and validation fill up their last batches.
expect_buckets 3,4,6,3,4,6 --batch_size=7 --valid=lengths
[[ $(grep -c "48 sentences served, 0 left over, 8 discarded" out) -eq 2 ]] ||
  { echo "FAILED: sentences are left over"; cat out; failed=1; }
expect_buckets 3,4,6 --batch_size=7 --nouse_ignore
grep -q "42 sentences served, 6 left over, 8 discarded" out ||
  { echo "FAILED: batches are filled up with padding that is learnt"; cat out; failed=1; }
expect_buckets 3,6 --max_buckets=2
expect_buckets 3,6 --bucket_cost=20
expect_buckets 3,4,6,70 --max_length=0
expect_buckets 3,4,6,70 --buckets=mxnet
expect_buckets 4,6,80 --buckets=4,6,80

# The command line that restarts a run also starts one without a state.
"$program" "${small[@]}" --checkpoint_prefix=anew --resume > out 2> err || failed=1
grep -q "^begins anew: there is no state anew-EPOCH-BATCH.state" out && [[ -s anew.vocab ]] ||
  { echo "FAILED: --resume without a state:"; cat out err; failed=1; }

# A finished run that is resumed trains nothing, and leaves its files unchanged.
over=("${small[@]}" --checkpoint_prefix=lm --json=over.json)
"$program" "${over[@]}" > out 2> err || failed=1
cp over.json first.json
"$program" "${over[@]}" --resume > out 2> err || failed=1
grep -q "^no batch was left to train" out || { echo "FAILED: a run that was over:"; cat out err; failed=1; }
cmp first.json over.json || failed=1
# A run that is resumed at the end of an epoch adds its epochs to the file.
"$program" "${over[@]}" --resume --num_epochs=3 > out 2> err || failed=1
[[ $(head -1 over.json) == "$(cat first.json)" && $(wc -l < over.json) -eq 3 ]] ||
  { echo "FAILED: the epochs of a run that went on:"; cat over.json; failed=1; }
grep -q '"batches":0,"real_tokens":0' over.json && { echo "FAILED: an empty epoch"; failed=1; }

# If the figures cannot be written, as on a full disk, the training continues and reports the error
# at its end. (TMPDIR does not exist: there ThreadSanitizer's runtime would map a file that it could
# not write.)
(trap '' XFSZ; ulimit -f 1; TMPDIR=/nonexistent exec "$program" "${small[@]}" --num_epochs=12 --json=full.json) 2>&1 |
  cat > out
[[ ${PIPESTATUS[0]} -eq 1 && $(grep -c "^lm_train: .*full.json" out) -ge 2 ]] &&
  grep -q "^epoch 12/12  train" out && tail -1 out | grep -q "^lm_train: .*full.json" ||
  { echo "FAILED: a file of figures that cannot be written:"; cat out; failed=1; }
exit $failed
