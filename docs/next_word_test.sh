#!/bin/bash
# next_word_test.sh PROGRAM README BUILD: the program of README.md trains, what it logs is its own,
# and the BUILD block beside it names what PROGRAM is linked from.
set -euo pipefail
program=$1 readme=$2 build=$3
failed=0
fail() {
  echo "$1"
  failed=1
}

prefix="$TEST_TMPDIR/next_word"
"$program" "$prefix" >out 2>log || { cat log; exit 1; }
cat log out
head -1 log | grep -q '^Epoch\[0\] Batch ' || fail "the first line is not Fit's"
if grep -vE '^Epoch\[[0-9]+\] ' log; then fail "a line begins with something else"; fi
perplexity=$(sed -n 's/^perplexity //p' out)
awk -v p="$perplexity" 'BEGIN { exit !(p > 1 && p < 2) }' ||
  fail "perplexity is '$perplexity', expected less than 2: an untrained model has 11"
for file in 0010.params 10-symbol.json 20-symbol.json; do
  [[ -s $prefix-$file ]] || fail "there is no next_word-$file"
done

# The labels of the stanza called next_word, as cooper writes them.
labels() {
  awk '/name = "next_word",/ { inside = 1 } inside && /^\)/ { exit } inside' "$1" |
    grep -o '"@*[a-z_]*//[^"]*"' | sed 's|"@cooper//|"//|' | LC_ALL=C sort
}
diff <(labels "$build") <(labels "$readme") ||
  fail "README.md (>) and docs/BUILD (<) link next_word from other targets"
exit $failed
