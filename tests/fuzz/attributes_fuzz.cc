// Fuzzes attributes of operators: any text is either rejected or parsed, and the printed form of a
// parsed value parses to the same value.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "symbol/schema/op.h"
#include "symbol/schema/param_text.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/operator_fields.h"

namespace cooper {
namespace {

void Parse(FuzzInput& input) {
  const OperatorFields& op = input.Pick(AllOperatorFields());
  AttrMap attrs;
  for (const FieldTexts& field : op.fields) {
    switch (input.Below(4)) {
      case 0:
        if (field.required) attrs[field.name] = input.Text(12);
        break;
      case 1:
        attrs[field.name] = input.Text(24);
        break;
      case 2:
        if (!field.extreme.empty()) attrs[field.name] = input.Pick(field.extreme);
        break;
      default:
        if (!field.usual.empty()) attrs[field.name] = input.Pick(field.usual);
    }
  }
  if (input.OneIn(8)) attrs[input.Text(12)] = input.Text(12);
  const size_t num_inputs = input.Below(5);
  const absl::StatusOr<OpCall> call = MakeOpCall(op.schema->name(), attrs, num_inputs);
  if (!call.ok() || op.schema->params() == nullptr) return;
  // The caller must limit the number of inputs, as the reader of symbol files does.
  constexpr int64_t kMaxInputs = 1000;
  const std::string& variadic = op.schema->variadic_attr();
  int64_t count = 0;
  if (variadic.empty() ||
      (ParseParamText(call->attrs.at(variadic), &count).ok() && count <= kMaxInputs)) {
    op.schema->InputNames(*call);
    op.schema->OutputNames(*call);
    op.schema->NumVisibleOutputs(*call);
    op.schema->WrittenInputs(*call);
    op.schema->Summary(*call);
  }
  const AttrMap printed = op.schema->params()->Print(call->params.get());
  const auto again = op.schema->params()->Parse(printed);
  CHECK(again.ok()) << op.schema->name() << ": printed, but not parsed again: " << again.status();
  CHECK(op.schema->params()->Print(again->get()) == printed) << op.schema->name();
}

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cooper::FuzzInput input(data, size);
  cooper::Parse(input);
  return 0;
}
