#!/bin/bash
# Tests the program with small files: its output, and that each user error prints one line on
# standard error, exits with 1 and leaves the file unchanged.
set -uo pipefail
program=$PWD/$1
cd "$TEST_TMPDIR" || exit 1
failed=0

fail() {
  echo "FAILED: $*"
  failed=1
}

# 40 sentences of 4 words, 40 of 10, and lines without words.
for ((i = 0; i < 40; ++i)); do
  echo "xyzzy <script>alert(1)</script> &amp; plugh"
  echo "a b c d e f g h i j"
  echo
done >text.txt
for ((i = 0; i < 40; ++i)); do echo "$((i % 4 + 3)),$((i % 2 + 5))"; done >pairs.txt
seq 1 50 >lengths.txt
: >empty.txt
echo "none" >words.txt
printf '3\n1000000001\n' >huge.txt

expect_output() {
  local words=$1
  shift
  "$program" --json=report.json "$@" >out 2>err
  local status=$?
  if [[ $status -ne 0 || -s err ]] || ! grep -q -- "$words" out || ! grep -q "^{.*}$" report.json; then
    fail "$* : status $status, expected 0 and '$words', got: $(cat err out)"
  fi
}

expect_error() {
  local words=$1
  shift
  echo "as it was" >report.json
  "$program" --json=report.json "$@" >out 2>err
  local status=$?
  if [[ $status -ne 1 || $(wc -l <err) -ne 1 || -s out ]] || ! grep -q -- "$words" err; then
    fail "$* : status $status, expected 1 and one line with '$words', got: $(cat err out)"
  fi
  [[ $(cat report.json) == "as it was" ]] || fail "$* : has written a file"
}

expect_output "^2 buckets, 0.0 % padding" --text=text.txt
expect_output "^--buckets=4,10 --batch_size=32" --text=text.txt
grep -q '"all":{"samples":80,' report.json || fail "no number of sentences"
grep -q '"empty":40,' report.json || fail "no number of empty sentences"
for word in xyzzy plugh alert; do ! grep -q "$word" report.json || fail "a word is in the file"; done
cp report.json first.json
expect_output "^2 buckets" --text=text.txt
cmp first.json report.json || fail "the same text gives another file"

expect_output "^1 bucket, 46.4 % padding" --lengths=lengths.txt --max_length=14 --max_buckets=1 \
  --batch_size=0 --too_long=discard --multiple_of=7
expect_output "^--buckets=16,32,48" --lengths=lengths.txt --max_length=50 --bucket_cost=0 \
  --max_buckets=3 --batch_size=4 --too_long=split --multiple_of=16
expect_output "^BucketIter::Create(data, labels, {.batch_size = 32, .buckets = {{" \
  --lengths=pairs.txt --step_overhead=2
expect_output "buckets" --text=text.txt --buckets=8,16
grep -q '"buckets_in_use":\[{"bucket":\[8\]' report.json || fail "no buckets in use"
cp lengths.txt $'<b>\n.txt'
expect_output "buckets" --lengths=$'<b>\n.txt'
grep -q '"source":"<b>\\n.txt"' report.json || fail "the name is not escaped"
[[ -z $(find . -name "report.json?*") ]] || fail "a temporary file is left"

! grep -q '"memory"' report.json || fail "memory without a network"
# Memory of buckets: for the language model, and for a network of any length.
small=(--num_hidden=8 --num_embed=8 --num_layers=1 --vocab=50)
expect_output "buckets" --text=text.txt --cell=lstm "${small[@]}"
grep -q '"network":"a language model (lstm, 1 layers of 8, 50 words)"' report.json || fail "no memory"
cat >net.json <<'JSON'
{"nodes": [
  {"op": "null", "name": "data", "inputs": []},
  {"op": "Activation", "name": "act", "attrs": {"act_type": "tanh"}, "inputs": [[0, 0, 0]]},
  {"op": "Activation", "name": "out", "attrs": {"act_type": "tanh"}, "inputs": [[1, 0, 0]]}],
 "arg_nodes": [0], "node_row_ptr": [0, 1, 2, 3], "heads": [[2, 0, 0]],
 "attrs": {"mxnet_version": ["int", 10901]}}
JSON
expect_output "BucketIter" --lengths=pairs.txt --symbol=net.json --shapes=data:N,3,T,U --notraining
grep -q '"network":"net.json",.*"training":false' report.json || fail "no memory of pairs"

expect_error "expected --text=FILE or --lengths=FILE"
expect_error "expected --text=FILE or --lengths=FILE" --text=text.txt --lengths=lengths.txt
# Without a file only the recommendation is written.
rm report.json
"$program" --text=text.txt >out 2>err && grep -q "^2 buckets" out && [[ ! -e report.json ]] ||
  fail "without --json: $(cat err out)"
expect_error "no/such.txt" --text=no/such.txt
# Two records of 24 + 8 bytes, and one of 24 + 3, padded.
record() { printf '\x0a\x23\xd7\xce'; printf "\\x$(printf %x $1)\0\0\0"; head -c $2 /dev/zero; }
{ record 32 32; record 32 32; record 27 28; } >lengths.rec
expect_output "^--buckets=2,4" --records=lengths.rec --bytes_per_token=2 --batch_size=0 --bucket_cost=0
{ record 27 28; } >short.rec
expect_error "short.rec', offset 0: the record has 27 bytes, fewer than its header" \
  --records=short.rec --record_header=28
expect_error "text.txt': not a RecordIO file (.rec): the file is text" --records=text.txt
expect_error "no line has a word" --text=empty.txt
expect_error "there is no length above 0" --lengths=empty.txt
expect_error "words.txt', line 1: 'none', expected lengths" --lengths=words.txt
expect_error "huge.txt', line 2: '1000000001', expected lengths" --lengths=huge.txt
expect_error "a directory" --text=.
expect_error "json=no/such/report.json" --text=text.txt --json=no/such/report.json
expect_error "json=/dev/null: it is no regular file" --text=text.txt --json=/dev/null
expect_error "text.txt is the file that is read" --text=text.txt --json=./text.txt
expect_error "no/.nsuch.txt" --text=$'no/\nsuch.txt'
expect_error "buckets=8;16: expected lengths such as" --text=text.txt "--buckets=8;16"
expect_error "too_long=cut: expected discard" --text=text.txt --too_long=cut
expect_error "more than max_length" --lengths=lengths.txt --max_length=20 --too_long=error
expect_error "max_buckets is 0" --text=text.txt --max_buckets=0
expect_error "too_long is split, which pairs" --lengths=pairs.txt --too_long=split
expect_error "not both" --text=text.txt --cell=lstm --symbol=net.json
expect_error "needs a --batch_size" --text=text.txt --cell=lstm --batch_size=0
expect_error "'dense'" --text=text.txt --cell=dense
expect_error "one length, not pairs" --lengths=pairs.txt --cell=lstm
expect_error "vocab 1" --text=text.txt --cell=lstm --vocab=1
expect_error "U, which only pairs have" --text=text.txt --symbol=net.json --shapes=data:N,U
expect_error "expected N, the batch size" --text=text.txt --symbol=net.json --shapes=data:T
expect_error "no/.nsuch.json" --text=text.txt --symbol=$'no/\nsuch.json'
expect_error "unexpected argument 'text.txt'" text.txt
exit $failed
