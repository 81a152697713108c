#!/bin/bash
# Tests the program with a small network: the file that it writes, and that each user error prints
# one line on standard error, exits with 1 and writes nothing.
set -uo pipefail
program=$PWD/$1
cd "$TEST_TMPDIR" || exit 1
failed=0

cat >net-symbol.json <<'JSON'
{"nodes": [
  {"op": "null", "name": "data", "inputs": []},
  {"op": "Activation", "name": "act", "attrs": {"act_type": "relu"}, "inputs": [[0, 0, 0]]}],
 "arg_nodes": [0], "node_row_ptr": [0, 1, 2], "heads": [[1, 0, 0]],
 "attrs": {"mxnet_version": ["int", 10901]}}
JSON
# A list of no arrays: the magic number, a reserved one, and the numbers of arrays and names.
printf '\x12\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >net-0003.params

expect_file() {
  local file=$1
  shift
  if ! "$program" "$@" 2>err || ! grep -q Relu "$file" || ! grep -q batch "$file"; then
    echo "FAILED: $*: expected $file with Relu and batch, got:"
    cat err
    failed=1
  fi
}

expect_error() {
  local words=$1
  shift
  rm -f bad.onnx
  "$program" "$@" >out 2>err
  local status=$?
  if [[ $status -ne 1 || $(wc -l <err) -ne 1 || -e bad.onnx ]] || ! grep -q -- "$words" err; then
    echo "FAILED: $*: status $status, expected 1 and one line with '$words', got:"
    cat err out
    failed=1
  fi
}

expect_file net.onnx --shapes=data:batch,8 net 3 net.onnx
expect_file old.onnx --shapes=data:batch,8 --opset=13 net 3 old.onnx
if ! "$program" --operators >table || ! grep -q '^| `Convolution` | Conv |$' table; then
  echo "FAILED: --operators has no Convolution"
  failed=1
fi
expect_error "expected PREFIX EPOCH FILE" net 3
expect_error "expected PREFIX EPOCH FILE" net three bad.onnx
expect_error "input 'data' is missing" net 3 bad.onnx
expect_error "--shapes=data: 'data': expected a name" --shapes=data net 3 bad.onnx
expect_error "--types=data: 'data': expected a name" --shapes=data:8 --types=data net 3 bad.onnx
expect_error "opset 18, expected 13 to 17" --shapes=data:8 --opset=18 net 3 bad.onnx
expect_error "net-0004.params" --shapes=data:8 net 4 bad.onnx
expect_error "none-symbol.json" --shapes=data:8 none 3 bad.onnx
expect_error "missing/bad.onnx" --shapes=data:8 net 3 missing/bad.onnx
exit $failed
