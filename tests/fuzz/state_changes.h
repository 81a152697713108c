#ifndef COOPER_TESTS_FUZZ_STATE_CHANGES_H_
#define COOPER_TESTS_FUZZ_STATE_CHANGES_H_

// Mutates saved iterator positions, which are texts of io/batch/key_values.h.

#include <string>

#include "tests/fuzz/fuzz_input.h"

namespace cooper {

// Returns the state with some lines omitted, repeated, or set to another value: a number at the
// limits of its type, a list, or a text from the input. Unchanged only if the input is used up.
std::string ChangeState(FuzzInput& input, const std::string& state);

}  // namespace cooper

#endif  // COOPER_TESTS_FUZZ_STATE_CHANGES_H_
