#!/bin/bash
# Tests the program with a small network: its output, and that each user error prints one line on
# standard error, exits with 1 and leaves the file unchanged.
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
   "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},
  {"op": "Activation", "name": "act", "attrs": {"act_type": "tanh"}, "inputs": [[3, 0, 0]]}],
 "arg_nodes": [0, 1, 2], "node_row_ptr": [0, 1, 2, 3, 4, 5], "heads": [[4, 0, 0]],
 "attrs": {"mxnet_version": ["int", 10901]}}
JSON

expect_output() {
  local words=$1
  shift
  "$program" --json=plan.json "$@" >out 2>err
  local status=$?
  if [[ $status -ne 0 || -s err ]] || ! grep -q -- "$words" out || ! grep -q "^{.*}$" plan.json; then
    echo "FAILED: $* : status $status, expected 0 and '$words', got: $(cat err out)"
    failed=1
  fi
}

expect_error() {
  local words=$1
  shift
  echo "as it was" >plan.json
  "$program" --json=plan.json "$@" >out 2>err
  local status=$?
  if [[ $status -ne 1 || $(wc -l <err) -ne 1 || -s out ]] || ! grep -q -- "^plot_memory: .*$words" err ||
    [[ $(cat plan.json) != "as it was" ]]; then
    echo "FAILED: $* : status $status, expected 1 and one line with '$words', got: $(cat err out)"
    failed=1
  fi
}

expect_output "bytes for .* values" --symbol=net.json --shapes=data:32,784
grep -q '"title":"net.json"' plan.json || failed=1
grep -q '"kind":"gradient"' plan.json || { echo "FAILED: no backward pass" && failed=1; }
expect_output "bytes for .* values" --symbol=net.json --shapes=data:32,784 --notraining
! grep -q '"kind":"gradient"' plan.json || { echo "FAILED: a backward pass" && failed=1; }

expect_error "symbol=FILE is missing"
expect_error "no/.nsuch.json" --symbol=$'no/\nsuch.json'
expect_error "shapes=data: .data.: expected" --symbol=net.json --shapes=data
expect_error "unknown variables: data" --symbol=net.json
expect_error "json=no/such/plan.json" --symbol=net.json --shapes=data:2,3 --json=no/such/plan.json
expect_error "json=/dev/null: it is no regular file" --symbol=net.json --shapes=data:2,3 --json=/dev/null
expect_error "unexpected argument 'net.json'" net.json
exit $failed
