#!/bin/bash
# images_test.sh IMAGES IM2REC: the classifier learns from the records that im2rec makes of its
# pictures; a mistake on its command line gives one line and exit status 1.
set -uo pipefail
images=$PWD/$1
im2rec=$PWD/$2
cd "$TEST_TMPDIR"
failed=0
fail() { echo "FAILED: $*"; cat out err; failed=1; }

"$images" draw . > out 2> err || fail "draw: exit status $?"
for part in train valid; do
  "$im2rec" --list --recursive $part $part > out 2> err || fail "list: exit status $?"
  "$im2rec" --encoding=.png --quality=3 $part $part > out 2> err || fail "pack: exit status $?"
done
"$images" train train.rec valid.rec > out 2> err || fail "train: exit status $?"
sed -n 's/^Epoch\[11\] Validation-accuracy=//p' out | awk '{ n = $1 } END { exit !(n >= 0.9) }' ||
  fail "fewer than 90 % of the pictures are told apart"

expect_error() {
  local words=$1
  shift
  "$images" "$@" > out 2> err
  [[ $? -eq 1 && $(wc -l < err) -eq 1 ]] && grep -q "^images: .*$words" err || fail "$*: no '$words'"
}
expect_error "expected draw FOLDER, or train" train train.rec
expect_error "no-such-file" train no-such-file.rec valid.rec
exit $failed
