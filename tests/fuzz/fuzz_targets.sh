# Sourced by tests/fuzz/fuzz.sh and tests/fuzz/fuzz_coverage.sh: the fuzzers of tests/fuzz, their seeds (in
# addition to kept and generated inputs), and the folder of the kept inputs.
# shellcheck shell=bash disable=SC2034
fuzz_targets=(symbol_json params numpy attributes operators training_state optimizer_states buckets text csv libsvm records
  images gzip settings positions)
declare -A fuzz_seeds=(
  [symbol_json]="tests/golden/files/symbol tests/golden/files/bad"
  [params]="tests/golden/files/params tests/golden/files/bad"
  [optimizer_states]="tests/golden/states"
)
fuzz_corpora=${COOPER_FUZZ_CORPUS:-$HOME/.cache/cooper-fuzz}

# make_seeds TARGET: runs the built fuzzer to write its generated seeds to a folder, and prints the
# folder's name.
make_seeds() {
  local folder=$fuzz_corpora/$1-seeds
  rm -rf "$folder"
  mkdir -p "$folder"
  COOPER_FUZZ_WRITE_SEEDS=$folder "bazel-bin/tests/fuzz/${1}_fuzz" >&2
  echo "$folder"
}
