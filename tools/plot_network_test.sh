#!/bin/bash
# Tests the program with a small network: its output, and that each user error prints one line on
# standard error and exits with 1.
set -uo pipefail
program=$PWD/$1
cd "$TEST_TMPDIR" || exit 1
failed=0

cat >net.json <<'JSON'
{"nodes": [
  {"op": "null", "name": "data", "inputs": []},
  {"op": "null", "name": "fc_weight", "inputs": []},
  {"op": "null", "name": "fc_bias", "inputs": []},
  {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "10"},
   "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]}],
 "arg_nodes": [0, 1, 2], "node_row_ptr": [0, 1, 2, 3, 4], "heads": [[3, 0, 0]],
 "attrs": {"mxnet_version": ["int", 10901]}}
JSON
echo "{" >bad.json

expect_output() {
  local words=$1 file=$2
  shift 2
  "$program" "$@" >out 2>err
  local status=$?
  if [[ $status -ne 0 || -s err ]] || ! grep -q -- "$words" "$file"; then
    echo "FAILED: $* : status $status, expected 0 and '$words' in $file, got:"
    cat err "$file"
    failed=1
  fi
}

expect_error() {
  local words=$1
  shift
  "$program" "$@" >out 2>err
  local status=$?
  if [[ $status -ne 1 || $(wc -l <err) -ne 1 || -s out ]] || ! grep -q -- "$words" err; then
    echo "FAILED: $* : status $status, expected 1 and one line with '$words', got:"
    cat err out
    failed=1
  fi
}

expect_output "Total params: 7850" out --symbol=net.json --shapes=data:32,784 --summary
expect_output "at least 0, shapes of 2 unknown" out --symbol=net.json --summary
expect_output '"fc" -> "data" \[label="784"' out --symbol=net.json --shapes=data:32,784 --output=-
expect_output '"fc" -> "fc_weight"' out --symbol=net.json --output=- --nohide_weights
expect_output 'digraph "net"' net.dot --symbol=net.json --output=net.dot --title=net
expect_output 'label="784"' net.dot --symbol=net.json --shapes="data:?,784" --output=net.dot
expect_output "Total params" out --symbol=net.json --output=again.dot --summary
grep -q "fixedsize\"=\"false" again.dot || failed=1

expect_error "symbol=FILE is missing"
expect_error "nothing to do" --symbol=net.json
expect_error "both write" --symbol=net.json --output=- --summary
expect_error "output=net.svg: expected .* dot -Tsvg" --symbol=net.json --output=net.svg
expect_error "none.json" --symbol=none.json --summary
expect_error "bad.json" --symbol=bad.json --summary
expect_error "shapes=data: 'data': expected" --symbol=net.json --summary --shapes=data
expect_error "'dat'" --symbol=net.json --summary --shapes=dat:32,784
expect_error "fc_weight" --symbol=net.json --summary "--shapes=data:32,784;fc_weight:10,3"
expect_error "no/such/net.dot" --symbol=net.json --output=no/such/net.dot
expect_error "unexpected argument 'net.json'" net.json
exit $failed
