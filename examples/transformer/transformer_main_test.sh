#!/bin/bash
# transformer_main_test.sh PROGRAM: the example trains on a text, whose long sentences it splits, and
# prints a falling perplexity; a mistake on its command line gives one line and exit status 1.
set -uo pipefail
program=$PWD/$1
cd "$TEST_TMPDIR"
failed=0
fail() { echo "FAILED: $*"; cat out err; failed=1; }

# 70 sentences of 3 to 15 words, each word followed by the next one of 12.
for ((i = 0; i < 70; ++i)); do
  for ((t = 0; t < 3 + i % 13; ++t)); do printf 'w%d ' $(((i + t) % 12)); done
  echo
done > text
echo "w1 w2 unknown w3" > valid
small="--width=32 --layers=1 --heads=2 --batch_size=8 --max_length=10 --learning_rate=0.01"
for positions in learned sinusoidal; do
  # shellcheck disable=SC2086
  "$program" --text=text --valid=valid --positions=$positions $small --dropout=0.05 > out 2> err ||
    fail "exit status $?"
  grep -q "^Epoch\[9\] Validation-perplexity=" out || fail "no perplexity of the validation"
  sed -n 's/.*Train-perplexity=//p' out | awk '{ p[NR] = $1 } END { exit !(NR == 10 && p[10] < 2 && p[10] < p[1]) }' ||
    fail "the perplexity of 10 epochs does not fall below 2"
done

expect_error() {
  local words=$1
  shift
  "$program" "$@" > out 2> err
  [[ $? -eq 1 && $(wc -l < err) -eq 1 ]] && grep -qF -- "transformer: $words" err || fail "$*: no '$words'"
}
expect_error "--task=sort: expected lm or classify" --task=sort
expect_error "--positions=none: expected learned or sinusoidal" --positions=none
expect_error "heads = 3: expected a divisor of width = 128" --heads=3
expect_error "warmup = 1.5: expected a share of the updates in [0, 1)" --warmup=1.5
expect_error "--valid needs --text" --valid=valid
expect_error "--text and --valid need --task=lm" --task=classify --text=text
expect_error "unexpected argument 'text'" text
"$program" --text=no-such-file > out 2> err && fail "a text that is missing"
grep -q "^transformer: .*no-such-file" err || fail "the error does not name the text"
"$program" --task=classify --max_length=20 > out 2> err && fail "buckets above max_length"
grep -q "expected at most max_length = 20" err || fail "the error does not name max_length"
exit $failed
