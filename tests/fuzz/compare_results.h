#ifndef COOPER_TESTS_FUZZ_COMPARE_RESULTS_H_
#define COOPER_TESTS_FUZZ_COMPARE_RESULTS_H_

// Compares two ways to run a random network: on two devices, or with and without passes.

#include <string>

#include "absl/strings/string_view.h"
#include "tests/fuzz/random_network.h"

namespace cooper {

// Describes the differences between two runs; empty if there are none. Statuses must agree, and
// with `values` also the arrays, up to rounding. Runs are not compared if one of them has no kernel
// for the network, or not enough memory.
std::string Difference(const RandomNetwork::Results& expected, const RandomNetwork::Results& actual,
                       bool values);

// Returns whether the inputs determine the outputs of the network in `json`. An attribute of
// all_finite may keep the old contents of its output.
bool OutputsFollowFromInputs(absl::string_view json);

}  // namespace cooper

#endif  // COOPER_TESTS_FUZZ_COMPARE_RESULTS_H_
