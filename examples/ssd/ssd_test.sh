#!/bin/bash
# ssd_test.sh SSD IM2REC: the detector learns from the records that im2rec makes of its pictures; a
# mistake on its command line gives one line and exit status 1.
set -uo pipefail
ssd=$PWD/$1
im2rec=$PWD/$2
cd "$TEST_TMPDIR"
failed=0
fail() { echo "FAILED: $*"; cat out err; failed=1; }

"$ssd" --draw=train --scenes=256 --seed=1 > out 2> err || fail "draw: exit status $?"
"$ssd" --draw=valid --scenes=64 --seed=2 > out 2> err || fail "draw: exit status $?"
for part in train valid; do
  "$im2rec" --pack-label --pass-through $part $part > out 2> err || fail "pack: exit status $?"
done
"$ssd" --train=train.rec --valid=valid.rec --epochs=6 --save=ssd > out 2> err ||
  fail "train: exit status $?"
sed -n 's/^mAP //p' out | awk '{ n = $1 } END { exit !(n >= 0.5) }' || fail "mAP is below 0.5"
[[ -s ssd-symbol.json && -s ssd-0000.params && -s ssd-0006.params ]] || fail "nothing is saved"

expect_error() {
  local words=$1
  shift
  "$ssd" "$@" > out 2> err
  [[ $? -eq 1 && $(wc -l < err) -eq 1 ]] && grep -q "^ssd: .*$words" err || fail "$*: no '$words'"
}
expect_error "give --draw=FOLDER" --train=train.rec
expect_error "no-such-file" --train=no-such-file.rec --valid=valid.rec
exit $failed
