#include "module/onnx/operator_table.h"

#include "absl/strings/str_cat.h"
#include "module/onnx/node_export.h"
#include "symbol/schema/op.h"

namespace cooper {

std::string OnnxOperatorTable() {
  std::string table = "| operator | in ONNX |\n| --- | --- |\n";
  for (const OpSchema* op : AllOps()) {
    if (op->is_gradient()) continue;
    const OnnxRule* rule = FindOnnxRule(*op);
    absl::StrAppend(&table, "| `", op->name(), "` | ");
    if (rule != nullptr) absl::StrAppend(&table, rule->fn == nullptr ? "no: " : "", rule->text);
    absl::StrAppend(&table, " |\n");
  }
  return table;
}

}  // namespace cooper
