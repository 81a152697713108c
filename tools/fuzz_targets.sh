# Read by tools/fuzz.sh and tools/fuzz_coverage.sh: the fuzzers of tests/fuzz, what each begins with
# beside what was kept and what it makes itself, and where that is.
# shellcheck shell=bash disable=SC2034
fuzz_targets=(symbol_json params attributes operators training_state buckets text csv settings positions)
declare -A fuzz_seeds=(
  [symbol_json]="tests/golden/files/symbol tests/golden/files/bad"
  [params]="tests/golden/files/params tests/golden/files/bad"
)
fuzz_corpora=${COOPER_FUZZ_CORPUS:-$HOME/.cache/cooper-fuzz}

# make_seeds TARGET: has the fuzzer that was built write the inputs that it makes itself to a folder,
# whose name it prints.
make_seeds() {
  local folder=$fuzz_corpora/$1-seeds
  rm -rf "$folder"
  mkdir -p "$folder"
  COOPER_FUZZ_WRITE_SEEDS=$folder "bazel-bin/tests/fuzz/${1}_fuzz" >&2
  echo "$folder"
}
