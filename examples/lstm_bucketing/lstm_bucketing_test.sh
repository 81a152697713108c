#!/bin/bash
# lstm_bucketing_test.sh PROGRAM: the example trains on every sentence of a text and prints a falling
# perplexity; a mistake on its command line gives one line and exit status 1.
set -uo pipefail
program=$PWD/$1
cd "$TEST_TMPDIR"
failed=0
fail() { echo "FAILED: $*"; cat out err; failed=1; }

# 70 sentences of 3 to 9 words, each word followed by the next one of 12.
for ((i = 0; i < 70; ++i)); do
  for ((t = 0; t < 3 + i % 7; ++t)); do printf 'w%d ' $(((i + t) % 12)); done
  echo
done > text
echo "w1 w2 unknown w3" > valid
"$program" text valid > out 2> err || fail "exit status $?"
grep -q "70 sentences served, 0 left over, 0 discarded" out || fail "sentences are left out"
grep -q "^Epoch\[7\] Validation-perplexity=" out || fail "no perplexity of the validation"
sed -n 's/.*Train-perplexity=//p' out | awk '{ p[NR] = $1 } END { exit !(NR == 8 && p[8] < 2 && p[8] < p[1]) }' ||
  fail "the perplexity of 8 epochs does not fall below 2"

expect_error() {
  local words=$1
  shift
  "$program" "$@" > out 2> err
  [[ $? -eq 1 && $(wc -l < err) -eq 1 ]] && grep -q "^lstm_bucketing: .*$words" err || fail "$*: no '$words'"
}
: > empty
expect_error "no-such-file" no-such-file
expect_error "empty: the text has no sentence" empty
expect_error "expected at most two texts, got 3" text valid text
exit $failed
