#!/bin/bash
# What a user can get wrong on the command line is one line on standard error, and exit status 1.
set -uo pipefail
program=$PWD/$1
cd "$TEST_TMPDIR"
: > empty
echo "a b c d e f g h" > long
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
expect_error "no-such-file" --train=no-such-file
expect_error "no sentence" --train=empty
expect_error "longer than the largest bucket" --train=long --buckets=2,4
expect_error "buckets=x" --buckets=x
expect_error "'dense'" --cell=dense
expect_error "'steepest'" --optimizer=steepest
expect_error "mom" --mom=0.9 --optimizer=adam
expect_error "checkpoint_prefix" --resume
expect_error "checkpoint_prefix" --checkpoint_batches=5
expect_error "no/such is no folder" --json=no/such/file
expect_error "no/such is no folder" --checkpoint_prefix=no/such/lm
expect_error "lr=-1" --lr=-1
expect_error "no bucket has the 32 sentences" --train=long
expect_error "nothing-EPOCH-BATCH.state" --resume --checkpoint_prefix=nothing
expect_error "unexpected argument" train.txt
exit $failed
