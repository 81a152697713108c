// Tests graphs that compute from arrays whose shapes depend on values: results and gradients are
// those of the graph that is bound to the true shapes.

#include "executor/run/true_shapes.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/compile/passes.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/control/cond.h"
#include "symbol/control/foreach.h"
#include "symbol/graph/name_manager.h"
#include "symbol/op/operators.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr int64_t kRows = 6, kColumns = 3;

Symbol Mask(const Symbol& data, const Symbol& index) {
  return Op("_contrib_boolean_mask", {.name = "mask", .inputs = {data, index}});
}

// A graph over rows (n, kColumns).
struct Net {
  const char* name;
  Symbol (*build)(const Symbol& rows);
};

const Net kNets[] = {
    {"Elementwise",
     [](const Symbol& rows) {
       return Op("elemwise_mul", {.inputs = {Op("tanh", {.inputs = {rows}}), rows}});
     }},
    {"Layers",
     [](const Symbol& rows) {
       const Symbol first = Op("FullyConnected", {.name = "first",
                                                  .inputs = {Op("abs", {.inputs = {rows}})},
                                                  .attrs = {{"num_hidden", "5"}}});
       return Op("FullyConnected", {.name = "second",
                                    .inputs = {Op("relu", {.inputs = {first}})},
                                    .attrs = {{"num_hidden", "2"}}});
     }},
    {"OneWeightTwice",
     [](const Symbol& rows) {
       const Symbol weight = Symbol::Variable("weight");
       const OpArgs args{.attrs = {{"num_hidden", "3"}, {"no_bias", "True"}}};
       OpArgs once = args, twice = args;
       once.inputs = {rows, weight};
       twice.inputs = {Op("FullyConnected", once), weight};
       return Op("FullyConnected", twice);
     }},
    {"SumOverRows",
     [](const Symbol& rows) {
       return Op("sum", {.inputs = {rows}, .attrs = {{"axis", "0"}}});
     }},
    {"Mean", [](const Symbol& rows) { return Op("mean", {.inputs = {rows}}); }},
    {"MaxOverRows",
     [](const Symbol& rows) {
       return Op("max", {.inputs = {rows}, .attrs = {{"axis", "0"}}});
     }},
    {"Norm", [](const Symbol& rows) { return Op("norm", {.inputs = {rows}}); }},
    {"WithoutMean",
     [](const Symbol& rows) {
       const Symbol mean =
           Op("mean", {.inputs = {rows}, .attrs = {{"axis", "0"}, {"keepdims", "True"}}});
       return Op("broadcast_sub", {.inputs = {rows, mean}});
     }},
    {"SoftmaxOverRows",
     [](const Symbol& rows) {
       return Op("softmax", {.inputs = {rows}, .attrs = {{"axis", "0"}}});
     }},
    {"Products",
     [](const Symbol& rows) {
       return Op("dot", {.inputs = {Op("transpose", {.inputs = {rows}}), rows}});
     }},
    {"Joined",
     [](const Symbol& rows) {
       const Symbol twice = Op(
           "Concat", {.inputs = {rows, Op("tanh", {.inputs = {rows}})}, .attrs = {{"dim", "0"}}});
       return Op("Concat", {.inputs = {twice, twice}, .attrs = {{"dim", "1"}}});
     }},
    {"Split",
     [](const Symbol& rows) {
       const Symbol parts = Op("SliceChannel", {.inputs = {rows}, .attrs = {{"num_outputs", "3"}}});
       return Op("elemwise_add", {.inputs = {parts[0], parts[2]}});
     }},
    {"Flat",
     [](const Symbol& rows) {
       const Symbol flat = Op("Reshape", {.inputs = {rows}, .attrs = {{"shape", "(-1,)"}}});
       return Op("square", {.inputs = {flat}});
     }},
    {"BatchNorm",
     [](const Symbol& rows) {
       return Op("BatchNorm",
                 {.name = "norm", .inputs = {rows}, .attrs = {{"fix_gamma", "False"}}});
     }},
    {"MaskOfMask",
     [](const Symbol& rows) {
       const Symbol first =
           Op("slice_axis",
              {.inputs = {rows}, .attrs = {{"axis", "1"}, {"begin", "0"}, {"end", "1"}}});
       const Symbol flags = Op(
           "relu", {.inputs = {Op("Reshape", {.inputs = {first}, .attrs = {{"shape", "(-1,)"}}})}});
       return Op(
           "tanh",
           {.inputs = {Op("_contrib_boolean_mask", {.name = "again", .inputs = {rows, flags}})}});
     }},
    {"Deleted",
     [](const Symbol& rows) {
       const Symbol zero = Op("_zeros", {.attrs = {{"shape", "(1,)"}}});
       return Op(
           "square",
           {.inputs = {Op("_npi_delete", {.inputs = {rows, zero}, .attrs = {{"axis", "0"}}})}});
     }},
    {"SeveralOutputs",
     [](const Symbol& rows) {
       return *Symbol::Group({rows, Op("sum", {.inputs = {rows}}), Op("tanh", {.inputs = {rows}})});
     }},
};

std::map<std::string, WriteReq> Without(const std::string& name) {
  return {{name, WriteReq::kNull}};
}

// The result of a training step by name: outputs, gradients and auxiliary states.
using Results = std::map<std::string, NDArray>;

Results Step(Executor& executor) {
  Results results;
  COOPER_EXPECT_OK(executor.Forward(/*is_train=*/true));
  const auto outputs = executor.outputs();
  if (!outputs.ok()) return results;
  std::vector<NDArray> heads;
  for (size_t i = 0; i < outputs->size(); ++i) {
    results[absl::StrCat("output ", i)] = *(*outputs)[i].Copy();
    heads.push_back(*NDArray::Zeros((*outputs)[i].shape()));
    FillRandom(heads.back(), 77 + i);
  }
  COOPER_EXPECT_OK(executor.Backward(heads));
  for (const auto& [name, array] : executor.grad_dict()) results["gradient of " + name] = array;
  for (const auto& [name, array] : executor.aux_dict()) results[name] = array;
  return results;
}

// Copies the rows with a flag that is not 0 from an array (kRows, kColumns).
NDArray Kept(const NDArray& data, const std::vector<float>& flags) {
  const std::vector<float> values = Floats(data);
  std::vector<float> kept;
  for (int64_t i = 0; i < kRows; ++i) {
    if (flags[i] == 0) continue;
    kept.insert(kept.end(), values.begin() + i * kColumns, values.begin() + (i + 1) * kColumns);
  }
  const auto rows = static_cast<int64_t>(kept.size()) / kColumns;
  return *NDArray::FromVector<float>({rows, kColumns}, kept);
}

// Runs a net with several masks, one after the other, on one executor, and compares each step with
// that of an executor for the rows that the mask keeps.
void CheckNet(const Net& net, const std::set<std::string>& disabled) {
  const NameManager names;
  const Symbol data = Symbol::Variable("data"), index = Symbol::Variable("index");
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto masked,
      Executor::SimpleBind(net.build(Mask(data, index)), {.shapes = {{"data", {kRows, kColumns}}},
                                                          .grad_reqs = Without("index"),
                                                          .disabled_passes = disabled}));
  const Symbol plain = net.build(data);
  const std::vector<float> masks[] = {{0, 1, 1, 0, 1, 0},
                                      {1, 1, 1, 1, 1, 1},
                                      {0, 0, 0, 0, 2, 0},
                                      {0, 1, 1, 0, 1, 0},
                                      {1, 0, 0, 1, 1, 1}};
  for (const std::vector<float>& flags : masks) {
    COOPER_ASSERT_OK(masked->arg("index").CopyFrom(*NDArray::FromVector<float>({kRows}, flags)));
    uint64_t seed = 5;
    for (const std::string& name : masked->arg_names()) {
      if (name != "index") FillRandom(masked->arg(name), seed++);
    }
    for (const auto& [name, array] : masked->aux_dict()) COOPER_ASSERT_OK(array.Fill(0.5));
    const NDArray kept = Kept(masked->arg("data"), flags);
    COOPER_ASSERT_OK_AND_ASSIGN(const auto exact,
                                Executor::SimpleBind(plain, {.shapes = {{"data", kept.shape()}}}));
    for (const auto& [name, array] : exact->arg_dict()) {
      COOPER_ASSERT_OK(array.CopyFrom(name == "data" ? kept : masked->arg(name)));
    }
    for (const auto& [name, array] : exact->aux_dict()) COOPER_ASSERT_OK(array.Fill(0.5));
    const Results expected = Step(*exact);
    Results got = Step(*masked);
    // Rows that the mask leaves out have no gradient.
    for (int64_t i = 0; i < kRows; ++i) {
      if (flags[i] != 0) continue;
      EXPECT_THAT(Floats(*got["gradient of data"].Slice(i, i + 1)), ElementsAre(0, 0, 0));
    }
    got["gradient of data"] = Kept(got["gradient of data"], flags);
    ASSERT_EQ(got.size(), expected.size());
    for (const auto& [name, array] : expected) {
      EXPECT_EQ(got[name].shape(), array.shape()) << name;
      EXPECT_THAT(Floats(got[name]), Pointwise(FloatNear(1e-5), Floats(array))) << name;
    }
  }
}

TEST(TrueShapesTest, ResultsAreThoseOfTheTrueShapes) {
  const std::vector<std::string> passes = PassNames();
  for (const Net& net : kNets) {
    SCOPED_TRACE(net.name);
    CheckNet(net, {});
    CheckNet(net, {passes.begin(), passes.end()});
  }
}

std::unique_ptr<Executor> BindMasked(const Symbol& net, const std::vector<float>& flags) {
  auto executor = Executor::SimpleBind(
      net,
      {.shapes = {{"data", {kRows, kColumns}}, {"index", {kRows}}}, .grad_req = WriteReq::kNull});
  EXPECT_TRUE(executor.ok()) << executor.status();
  for (const auto& [name, array] : (*executor)->arg_dict()) FillRandom(array, 1);
  COOPER_EXPECT_OK((*executor)->arg("index").CopyFrom(*NDArray::FromVector<float>({kRows}, flags)));
  return *std::move(executor);
}

TEST(TrueShapesTest, ShapesThatDoNotFitAreNamed) {
  const Symbol data = Symbol::Variable("data"), index = Symbol::Variable("index");
  const Symbol net = Op("elemwise_add", {.name = "sum", .inputs = {Mask(data, index), data}});
  const auto executor = BindMasked(net, {1, 0, 1, 0, 1, 0});
  EXPECT_THAT(executor->Forward(false),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("elemwise_add 'sum': "), HasSubstr("(3, 3)"),
                             HasSubstr("lhs 'mask_output' (3, 3), rhs 'data' (6, 3)"))));
  COOPER_ASSERT_OK(executor->arg("index").Fill(1));
  COOPER_EXPECT_OK(executor->Forward(false));
}

TEST(TrueShapesTest, NoRowsAreAShapeToo) {
  const Symbol data = Symbol::Variable("data"), index = Symbol::Variable("index");
  const Symbol rows = Mask(data, index);
  const Symbol fc = Op("FullyConnected", {.inputs = {rows}, .attrs = {{"num_hidden", "2"}}});
  const auto executor = BindMasked(
      *Symbol::Group({fc, Op("sum", {.inputs = {fc}}), Op("shape_array", {.inputs = {fc}})}),
      {0, 0, 0, 0, 0, 0});
  COOPER_ASSERT_OK(executor->Forward(false));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, executor->outputs());
  EXPECT_EQ(outputs[0].shape(), Shape({0, 2}));
  EXPECT_THAT(Floats(outputs[1]), ElementsAre(0));
  EXPECT_THAT(*outputs[2].ToVector<int64_t>(), ElementsAre(0, 2));
}

TEST(TrueShapesTest, AMonitorSeesTheTrueShapes) {
  const Symbol data = Symbol::Variable("data"), index = Symbol::Variable("index");
  const Symbol net = Op("tanh", {.name = "tanh", .inputs = {Mask(data, index)}});
  const auto executor = BindMasked(net, {1, 0, 1, 0, 0, 0});
  std::map<std::string, Shape> seen;
  executor->SetMonitorCallback(
      [&](const std::string& name, const NDArray& array) { seen[name] = array.shape(); });
  COOPER_ASSERT_OK(executor->Forward(false));
  EXPECT_EQ(seen["mask_output"], Shape({2, kColumns}));
  EXPECT_EQ(seen["tanh_output"], Shape({2, kColumns}));
}

TEST(TrueShapesTest, OperatorsThatCount) {
  const Symbol data = Symbol::Variable("data"), index = Symbol::Variable("index");
  const Symbol unique = Op(
      "_npi_unique", {.name = "unique", .inputs = {index}, .attrs = {{"return_counts", "True"}}});
  const Symbol numbers = Op("Cast", {.inputs = {index}, .attrs = {{"dtype", "int32"}}});
  const Symbol bins = Op("_npi_bincount", {.name = "bins", .inputs = {numbers}});
  const auto sum = [](const Symbol& of) {
    return Op("sum", {.inputs = {Op("Cast", {.inputs = {of}, .attrs = {{"dtype", "float32"}}})}});
  };
  const Symbol positions = Op("_npx_nonzero", {.name = "nonzero", .inputs = {index}});
  const auto executor = BindMasked(*Symbol::Group({unique[0], sum(unique[0]), sum(unique[1]),
                                                   sum(positions), sum(bins), bins, data}),
                                   {4, 0, 1, 4, 1, 0});
  COOPER_ASSERT_OK(executor->Forward(false));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, executor->outputs());
  EXPECT_THAT(Floats(outputs[0]), ElementsAre(0, 1, 4));
  EXPECT_THAT(Floats(outputs[1]), ElementsAre(5));
  EXPECT_THAT(Floats(outputs[2]), ElementsAre(kRows));
  EXPECT_THAT(Floats(outputs[3]), ElementsAre(0 + 2 + 3 + 4));
  EXPECT_THAT(Floats(outputs[4]), ElementsAre(kRows));
  EXPECT_THAT(*outputs[5].ToVector<int32_t>(), ElementsAre(2, 2, 0, 0, 2));
  COOPER_ASSERT_OK(executor->arg("index").Fill(kRows));
  EXPECT_THAT(executor->Forward(false),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("_npi_bincount 'bins': input 'data' has the number 6, and memory "
                                 "is planned for 6 bins; set minlength above all numbers")));
  COOPER_ASSERT_OK(executor->arg("index").Fill(-1));
  EXPECT_THAT(executor->Forward(false),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("input 'data' has the negative number -1")));
}

TEST(TrueShapesTest, ABranchMayCount) {
  const Symbol data = Symbol::Variable("data"), index = Symbol::Variable("index");
  const Symbol all = Op("sum", {.inputs = {data}, .attrs = {{"keepdims", "True"}}});
  const Symbol net = Cond(
      all > 0,
      [&] {
        return std::vector<Symbol>{
            Op("sum", {.inputs = {Mask(data, index)}, .attrs = {{"keepdims", "True"}}})};
      },
      [&] { return std::vector<Symbol>{all}; })[0];
  const auto executor = BindMasked(net, {0, 0, 1, 0, 1, 0});
  for (const float value : {1.0f, -1.0f}) {
    COOPER_ASSERT_OK(executor->arg("data").Fill(value));
    COOPER_ASSERT_OK(executor->Forward(false));
    EXPECT_THAT(Floats((*executor->outputs())[0]),
                ElementsAre(value > 0 ? 2 * kColumns : -kRows * kColumns));
  }
}

TEST(TrueShapesTest, LoopsOverCountedRowsAreRefused) {
  const Symbol data = Symbol::Variable("data"), index = Symbol::Variable("index");
  const Symbol net =
      Foreach(
          [](const std::vector<Symbol>& rows, const std::vector<Symbol>&) {
            return ForeachStep{.outputs = {Op("tanh", {.inputs = {rows[0]}})}, .states = {}};
          },
          {Mask(data, index)}, {}, "loop")
          .outputs[0];
  EXPECT_THAT(
      Executor::SimpleBind(net, {.shapes = {{"data", {kRows, kColumns}}}}).status(),
      StatusIs(absl::StatusCode::kUnimplemented,
               AllOf(HasSubstr("_foreach 'loop': the shape of its input '"),
                     HasSubstr("', _contrib_boolean_mask 'mask', depends on values, and its graph "
                               "is unrolled before they are known: make that array an output, and "
                               "give it to a graph of its own"))));
}

// The branch counts the shape that is read, so it is known only once the choice is replaced.
TEST(TrueShapesTest, UnrolledOperatorsInABranchAreRefused) {
  const Symbol data = Symbol::Variable("data"), index = Symbol::Variable("index");
  const Symbol all = Op("sum", {.inputs = {data}, .attrs = {{"keepdims", "True"}}});
  const Symbol net = Cond(
      all > 0,
      [&] {
        const Symbol rows = Op("_np_atleast_2d", {.inputs = {Mask(data, index)}});
        return std::vector<Symbol>{Op("sum", {.inputs = {rows}, .attrs = {{"keepdims", "True"}}})};
      },
      [&] { return std::vector<Symbol>{all}; })[0];
  EXPECT_THAT(
      Executor::SimpleBind(net, {.shapes = {{"data", {kRows, kColumns}}, {"index", {kRows}}}})
          .status(),
      StatusIs(absl::StatusCode::kUnimplemented,
               AllOf(HasSubstr("_np_atleast_2d"),
                     HasSubstr("depends on values, and its graph is unrolled"))));
}

TEST(TrueShapesTest, CountedResultsOfBranchesAreRefused) {
  const Symbol data = Symbol::Variable("data"), index = Symbol::Variable("index");
  const Symbol all = Op("sum", {.inputs = {data}, .attrs = {{"keepdims", "True"}}});
  const Symbol net = Cond(
      all > 0, [&] { return std::vector<Symbol>{Mask(data, index)}; },
      [&] { return std::vector<Symbol>{Op("tanh", {.inputs = {data}})}; })[0];
  EXPECT_THAT(
      Executor::SimpleBind(net, {.shapes = {{"data", {kRows, kColumns}}, {"index", {kRows}}}})
          .status(),
      StatusIs(absl::StatusCode::kUnimplemented,
               AllOf(HasSubstr("_select"),
                     HasSubstr("depends on values, and it has none if its branch or step does not "
                               "run: compute a result of a fixed shape there"))));
}

}  // namespace
}  // namespace cooper
