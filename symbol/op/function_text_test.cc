#include "symbol/op/function_text.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
// Includes all headers in one source: none may contradict another.
#include "symbol/op/all.h"
#include "symbol/op/op_description.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The families for which BUILD generates headers.
const char* const kFamilies[] = {"detection", "elemwise",  "index",  "linalg", "loss", "nn",
                                 "numpy",     "optimizer", "random", "reduce", "rnn",  "shape"};

TEST(FunctionTextTest, EveryOperatorHasAFunctionInTheHeaderOfItsFamily) {
  std::map<std::string, std::string> headers;
  for (const char* family : kFamilies) {
    headers[family] = WriteFunctions(AllOps(), family, "x.h").header;
  }
  std::set<std::string> names;
  int num_functions = 0;
  for (const OpSchema* op : AllOps()) {
    if (!HasFunction(*op)) {
      EXPECT_TRUE(op->family() == "control" || op->family() == "fused" ||
                  absl::StrContains(op->name(), "_backward"))
          << op->name();
      continue;
    }
    ASSERT_EQ(headers.count(op->family()), 1) << op->name() << " of family " << op->family();
    std::vector<std::string> all = FunctionAliases(*op);
    all.push_back(CalledName(*op));
    for (const std::string& name : all) {
      const FunctionName function = FunctionNameOf(name);
      EXPECT_THAT(headers[op->family()], HasSubstr(absl::StrCat("Symbol ", function.name, "(")));
      EXPECT_TRUE(names.insert(absl::StrCat(function.scope, "::", function.name)).second)
          << "two operators have the function of " << name;
      ++num_functions;
    }
  }
  EXPECT_GT(num_functions, 250);
}

TEST(FunctionTextTest, OptionsTellWhatTheSchemaTells) {
  EXPECT_THAT(WriteFunctions(AllOps(), "nn", "symbol/op/nn.h").header,
              HasSubstr(R"(struct FullyConnectedOptions {
  Symbol weight = {};  // input; left out: variable NAME_weight
  Symbol bias = {};  // input that some attributes ask for
  // Required: rows of weight: features of the output
  std::optional<int64_t> num_hidden = std::nullopt;
  bool no_bias = false;  // whether there is no bias input
  bool flatten = true;  // whether all axes of data but the first are taken as one
  std::string name = {};  // empty: an automatic one, "fullyconnected0"
  AttrValues attrs = {};  // others: __lr_mult__
};
// output = data * weight^T + bias, over the last axis or over all but the first.
Symbol FullyConnected(const Symbol& data, const FullyConnectedOptions& options);
)"));
}

TEST(OpDescriptionTest, FindsInputsOfAllAttributes) {
  const OpDescription rnn = DescribeOp(**FindOp("RNN"));
  EXPECT_THAT(rnn.positional, ElementsAre("data"));
  EXPECT_THAT(rnn.optional, ElementsAre("parameters", "state", "state_cell", "sequence_length"));
  EXPECT_THAT(rnn.conditional, ElementsAre("state_cell", "sequence_length"));
  const OpDescription norm = DescribeOp(**FindOp("BatchNorm"));
  EXPECT_THAT(norm.optional, ElementsAre("gamma", "beta", "moving_mean", "moving_var"));
  EXPECT_THAT(norm.auxs, ElementsAre("moving_mean", "moving_var"));
  // Lengths are positional although their input follows gamma and beta: only the caller knows them.
  EXPECT_THAT(DescribeOp(**FindOp("SequenceBatchNorm")).positional,
              ElementsAre("data", "sequence_length"));
  EXPECT_THAT(DescribeOp(**FindOp("where")).positional, ElementsAre("condition", "x", "y"));
  EXPECT_THAT(DescribeOp(**FindOp("Correlation")).positional, ElementsAre("data1", "data2"));
  EXPECT_TRUE(DescribeOp(**FindOp("Concat")).variadic);
  EXPECT_TRUE(DescribeOp(**FindOp("multi_sgd_update")).variadic);
  EXPECT_THAT(DescribeOp(**FindOp("_zeros")).positional, IsEmpty());
}

TEST(OpDescriptionTest, NamesFunctionsAsPythonDoes) {
  const auto scoped = [](const char* op) {
    const FunctionName name = FunctionNameOf(op);
    return absl::StrCat(name.scope, "::", name.name, " ", name.hint);
  };
  EXPECT_EQ(scoped("FullyConnected"), "::FullyConnected fullyconnected");
  EXPECT_EQ(scoped("_zeros"), "::zeros _zeros");
  EXPECT_EQ(scoped("_contrib_CTCLoss"), "contrib::CTCLoss ctcloss");
  EXPECT_EQ(scoped("_linalg_gemm2"), "linalg::gemm2 gemm2");
  EXPECT_EQ(CalledName(**FindOp("_ravel_multi_index")), "ravel_multi_index");
}

}  // namespace
}  // namespace cooper
