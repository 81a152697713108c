#ifndef COOPER_TESTS_FUZZ_OPERATOR_FIELDS_H_
#define COOPER_TESTS_FUZZ_OPERATOR_FIELDS_H_

// Texts that each attribute of each operator accepts, found by trying: what a fuzzer puts networks
// together of.

#include <string>
#include <vector>

#include "symbol/schema/op.h"

namespace cooper {

struct FieldTexts {
  std::string name;
  bool required = false;
  std::vector<std::string> usual;    // as networks have them
  std::vector<std::string> extreme;  // allowed, but of a size that nothing has
};

struct OperatorFields {
  const OpSchema* schema = nullptr;
  std::vector<FieldTexts> fields;
};

// Of every operator that is linked and that files may name, in order of name.
const std::vector<OperatorFields>& AllOperatorFields();

}  // namespace cooper

#endif  // COOPER_TESTS_FUZZ_OPERATOR_FIELDS_H_
