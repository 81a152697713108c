#ifndef COOPER_TESTS_FUZZ_JSON_MUTATOR_H_
#define COOPER_TESTS_FUZZ_JSON_MUTATOR_H_

// Changes a symbol file such that it stays JSON, more or less: values are replaced, left out,
// repeated and moved.

#include <string>

#include "ndarray/random/random.h"

namespace cooper {

// Makes one to four changes.
void MutateJson(RandomGenerator& random, std::string* text);

}  // namespace cooper

#endif  // COOPER_TESTS_FUZZ_JSON_MUTATOR_H_
