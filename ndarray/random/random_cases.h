#ifndef COOPER_NDARRAY_RANDOM_RANDOM_CASES_H_
#define COOPER_NDARRAY_RANDOM_RANDOM_CASES_H_

// Tests a property over many random cases, each of which its seed determines.
//
// COOPER_RANDOM_CASES=10000 sets the number of cases. COOPER_RANDOM_SEED=123 runs the one case of
// that seed, which a failure prints; both together run that many cases from that seed on.

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "gtest/gtest.h"
#include "ndarray/random/random.h"

namespace cooper {

// Calls check(RandomGenerator&) for the seeds 0, 1, ..., up to the first failure: for `by_default`
// seeds, unless the environment says otherwise. Prints the number of cases; the trace of a failure
// has the seed. `check` uses GoogleTest's assertions. Call it from the test itself: a fatal failure
// returns from the current function only.
template <typename Check>
void ForRandomCases(int64_t by_default, const Check& check) {
  const char* const seed_text = std::getenv("COOPER_RANDOM_SEED");
  const char* const cases_text = std::getenv("COOPER_RANDOM_CASES");
  const uint64_t first = seed_text == nullptr ? 0 : std::strtoull(seed_text, nullptr, 10);
  const int64_t cases = cases_text != nullptr  ? std::strtoll(cases_text, nullptr, 10)
                        : seed_text != nullptr ? 1
                                               : by_default;
  ASSERT_GT(cases, 0) << "COOPER_RANDOM_CASES=" << cases_text;
  std::cout << cases << " cases from seed " << first << " on\n";
  for (uint64_t seed = first; seed < first + static_cast<uint64_t>(cases); ++seed) {
    SCOPED_TRACE(testing::Message() << "this case again: COOPER_RANDOM_SEED=" << seed);
    RandomGenerator random(seed);
    check(random);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_RANDOM_RANDOM_CASES_H_
