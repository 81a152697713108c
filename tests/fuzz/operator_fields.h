#ifndef COOPER_TESTS_FUZZ_OPERATOR_FIELDS_H_
#define COOPER_TESTS_FUZZ_OPERATOR_FIELDS_H_

// Finds, by trial, texts that each attribute of each operator accepts, for the random networks of
// fuzzers.

#include <string>
#include <vector>

#include "symbol/schema/op.h"

namespace cooper {

struct FieldTexts {
  std::string name;
  bool required = false;
  std::vector<std::string> usual;    // of sizes that networks use
  std::vector<std::string> extreme;  // accepted, but beyond any real size
};

struct OperatorFields {
  const OpSchema* schema = nullptr;
  std::vector<FieldTexts> fields;
};

// Returns the attributes of every linked operator that files may name, sorted by name.
const std::vector<OperatorFields>& AllOperatorFields();

}  // namespace cooper

#endif  // COOPER_TESTS_FUZZ_OPERATOR_FIELDS_H_
