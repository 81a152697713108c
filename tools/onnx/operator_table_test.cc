#include "module/onnx/operator_table.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

TEST(OperatorTableTest, EveryOperatorIsExportedOrHasAReason) {
  for (absl::string_view row : absl::StrSplit(OnnxOperatorTable(), '\n')) {
    EXPECT_FALSE(absl::EndsWith(row, "|  |"))
        << row << ": register how it is exported, or the reason why not (module/onnx/ops)";
  }
}

TEST(OperatorTableTest, ThePageHasTheTable) {
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string page, ReadFile("docs/onnx_operators.md"));
  EXPECT_TRUE(absl::EndsWith(page, "\n" + OnnxOperatorTable()))
      << "docs/onnx_operators.md ends with another table than\n"
      << OnnxOperatorTable();
}

}  // namespace
}  // namespace cooper
