#ifndef COOPER_TESTS_FUZZ_COMPARE_RESULTS_H_
#define COOPER_TESTS_FUZZ_COMPARE_RESULTS_H_

// Compares two ways to run one random network: on two devices, with passes and without.

#include <string>

#include "absl/strings/string_view.h"
#include "tests/fuzz/random_network.h"

namespace cooper {

// Says what differs between two runs; empty if nothing does. Statuses have to agree, and with
// `values` what was read as well, but for rounding. Runs agree where one has no kernel for the
// network, or not the memory.
std::string Difference(const RandomNetwork::Results& expected, const RandomNetwork::Results& actual,
                       bool values);

// Whether the outputs of the network in `json` follow from its inputs. all_finite may be told to
// leave its output as it is.
bool OutputsFollowFromInputs(absl::string_view json);

}  // namespace cooper

#endif  // COOPER_TESTS_FUZZ_COMPARE_RESULTS_H_
