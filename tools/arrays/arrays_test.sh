#!/bin/bash
# Tests the program with small files: what it lists and converts, and that each user error prints
# one line on standard error, exits with 1 and leaves the output file as it was.
set -uo pipefail
program=$PWD/$1
cd "$TEST_TMPDIR" || exit 1
failed=0

fail() {
  echo "FAILED: $*"
  failed=1
}

# npy FILE DESCR SHAPE ELEMENTS: writes an .npy file; ELEMENTS are octal escapes of printf.
npy() {
  local text
  text=$(printf "%-117s" "{'descr': '$2', 'fortran_order': False, 'shape': $3, }")
  { printf '\223NUMPY\1\0v\0%s\n' "$text"; printf "$4"; } >"$1"
}

expect_list() {
  local words=$1
  shift
  "$program" "$@" >out 2>err
  local status=$?
  if [[ $status -ne 0 || -s err || $(cat out) != "$words" ]]; then
    fail "$* : status $status, expected 0 and '$words', got: $(cat err out)"
  fi
}

expect_error() {
  local words=$1
  shift
  echo "as it was" >kept.npz
  "$program" "$@" >out 2>err
  local status=$?
  if [[ $status -ne 1 || $(wc -l <err) -ne 1 || -s out ]] || ! grep -q -- "$words" err; then
    fail "$* : status $status, expected 1 and one line with '$words', got: $(cat err out)"
  fi
  [[ $(cat kept.npz) == "as it was" ]] || fail "$* : has written a file"
}

npy a.npy '|u1' '(2, 2)' '\1\2\3\4'
npy words.npy '<U1' '(1,)' 'a\0\0\0'

# There and back through every format gives the same bytes.
expect_list "a  (2, 2) uint8" --input=a.npy
expect_list "" --input=a.npy --output=a.params
expect_list "a  (2, 2) uint8" --input=a.params
expect_list "" --input=a.params --output=a.npz --compress
expect_list "a  (2, 2) uint8" --input=a.npz
expect_list "" --input=a.npz --output=again.npy
cmp a.npy again.npy || fail "another .npy file comes back"

# Two arrays, of which one is selected.
expect_list "" --input=a.npz --output=b.npz
if command -v python3 >/dev/null; then
  python3 - <<'PYTHON'
import zipfile
with zipfile.ZipFile('two.npz', 'w') as archive:
    archive.write('a.npy')
    archive.write('words.npy')
PYTHON
  expect_list "a  (2, 2) uint8
words  cannot be read: 'two.npz': entry 'words.npy' at offset 167: offset 20: the elements are text \
('<U1'), which an NDArray cannot hold; save numbers, such as ids of the texts" --input=two.npz
  expect_list "" --input=two.npz --output=one.params --names=a
  expect_list "a  (2, 2) uint8" --input=one.params
  expect_error "entry 'words.npy'" --input=two.npz --output=kept.npz
else
  echo "SKIPPED: the archive of another program: there is no python3"
fi

expect_error "input=FILE is missing"
expect_error "input=a.txt: expected a name that ends in .params, .npy or .npz" --input=a.txt
expect_error "output=a.txt: expected a name that ends in" --input=a.npy --output=a.txt
expect_error "output=no/a.npz: no is no folder" --input=a.npy --output=no/a.npz
expect_error "none.npz" --input=none.npz
expect_error "text ('<U1')" --input=words.npy --output=kept.npz
expect_error "there is no array 'b' in a.npz" --input=a.npz --names=b --output=kept.npz
expect_error "there is no array 'b' in a.npy" --input=a.npy --names=b --output=kept.npz
expect_error "there is no array 'b' in a.params" --input=a.params --names=b --output=kept.npz
expect_error "compress is for" --input=a.npz --output=c.npy --compress
cp a.npy a.params.npz
expect_error "not a NumPy archive (.npz): the file is a NumPy array (.npy); LoadNpy" --input=a.params.npz
cp a.npy b.params
expect_error "not a list of arrays (.params): the file is a NumPy array (.npy)" --input=b.params
exit $failed
