#ifndef COOPER_TESTS_FUZZ_JSON_MUTATOR_H_
#define COOPER_TESTS_FUZZ_JSON_MUTATOR_H_

// Mutates a symbol file such that it mostly stays valid JSON: values are replaced, omitted,
// repeated and moved.

#include <string>

#include "ndarray/random/random.h"

namespace cooper {

// Applies one to four mutations.
void MutateJson(RandomGenerator& random, std::string* text);

}  // namespace cooper

#endif  // COOPER_TESTS_FUZZ_JSON_MUTATOR_H_
