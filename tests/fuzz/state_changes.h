#ifndef COOPER_TESTS_FUZZ_STATE_CHANGES_H_
#define COOPER_TESTS_FUZZ_STATE_CHANGES_H_

// Changes to saved positions, texts of io/batch/key_values.h.

#include <string>

#include "tests/fuzz/fuzz_input.h"

namespace cooper {

// The state with some of its lines left out, repeated, or with another value: a number at an end of
// what fits, a list, or the input's own text. Only where nothing is left of the input it is as it
// was.
std::string ChangeState(FuzzInput& input, const std::string& state);

}  // namespace cooper

#endif  // COOPER_TESTS_FUZZ_STATE_CHANGES_H_
