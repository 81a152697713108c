#include "tools/ops/op_headers.h"

#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "symbol/op/op_description.h"

namespace cooper {

std::string OpHeaderTable(const std::vector<const OpSchema*>& ops) {
  std::map<std::pair<std::string, std::string>, std::string> rows;  // by lower case, then as it is
  for (const OpSchema* op : ops) {
    if (!HasFunction(*op)) continue;
    std::vector<std::string> names = FunctionAliases(*op);
    names.push_back(CalledName(*op));
    for (const std::string& name : names) {
      const FunctionName function = FunctionNameOf(name);
      const std::string call =
          absl::StrCat("op::", function.scope, function.scope.empty() ? "" : "::", function.name);
      rows[{absl::AsciiStrToLower(call), call}] =
          absl::StrCat("| `", call, "` | `symbol/op/", op->family(), ".h` |\n");
    }
  }
  std::string table = "| Function | Header |\n| --- | --- |\n";
  for (const auto& [name, row] : rows) table += row;
  return table;
}

}  // namespace cooper
