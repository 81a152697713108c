// Tests many runs of one compiled program: on several threads at a time, and for smaller batches.

#include "executor/run/bound_program.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/name_manager.h"
#include "symbol/rnn/lstm_cell.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSteps = 5, kWords = 7;

struct Net {
  const char* name;
  std::function<Symbol()> make;
  std::function<KnownShapes(int64_t batch)> shapes;
};

Symbol Dense() {
  Symbol x =
      Op("FullyConnected",
         {.name = "fc1", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "12"}}});
  x = Op("tanh", {.inputs = {Op("square", {.inputs = {x}})}});  // a chain, run tile by tile
  x = Op("Dropout", {.name = "drop", .inputs = {x}, .attrs = {{"p", "0.5"}}});
  x = Op("FullyConnected", {.name = "fc2", .inputs = {x}, .attrs = {{"num_hidden", "4"}}});
  return Op("SoftmaxOutput", {.name = "softmax", .inputs = {x, Symbol::Variable("label")}});
}

// Returns an unrolled layer over words, whose steps are split from one array and concatenated to
// another.
Symbol Words(const char* layout) {
  const Symbol embed = Op("Embedding", {.name = "embed",
                                        .inputs = {Symbol::Variable("data")},
                                        .attrs = {{"input_dim", "7"}, {"output_dim", "6"}}});
  LSTMCell cell(8, {.prefix = "lstm_"});
  const auto unrolled = cell.Unroll(kSteps, embed, {.layout = layout, .merge_outputs = true});
  EXPECT_TRUE(unrolled.ok()) << unrolled.status();
  const Symbol rows =
      Op("Reshape", {.inputs = {unrolled->outputs.merged()}, .attrs = {{"shape", "(-1, 8)"}}});
  const Symbol scores =
      Op("FullyConnected", {.name = "pred", .inputs = {rows}, .attrs = {{"num_hidden", "7"}}});
  const Symbol labels =
      Op("Reshape", {.inputs = {Symbol::Variable("label")}, .attrs = {{"shape", "(-1,)"}}});
  return Op("SoftmaxOutput", {.name = "softmax", .inputs = {scores, labels}});
}

Symbol Images() {
  Symbol x = Op("Convolution", {.name = "conv",
                                .inputs = {Symbol::Variable("data")},
                                .attrs = {{"kernel", "(3, 3)"}, {"num_filter", "4"}}});
  x = Op("BatchNorm", {.name = "bn", .inputs = {x}, .attrs = {{"fix_gamma", "False"}}});
  x = Op("Activation", {.inputs = {x}, .attrs = {{"act_type", "relu"}}});
  const Symbol pool = Op(
      "Pooling",
      {.inputs = {x}, .attrs = {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}}});
  x = Op("Concat", {.inputs = {Op("Flatten", {.inputs = {pool}}), Op("Flatten", {.inputs = {x}})},
                    .attrs = {{"num_args", "2"}}});
  x = Op("FullyConnected", {.name = "fc", .inputs = {x}, .attrs = {{"num_hidden", "3"}}});
  return Op("SoftmaxOutput", {.name = "softmax", .inputs = {x, Symbol::Variable("label")}});
}

// Returns a network that splits the batch into two halves, which are placed in the memory of the
// batch.
Symbol Halves() {
  const Symbol both =
      Op("SliceChannel", {.inputs = {Op("square", {.inputs = {Symbol::Variable("data")}})},
                          .attrs = {{"num_outputs", "2"}, {"axis", "0"}}});
  std::vector<Symbol> halves;
  for (int i = 0; i < 2; ++i) {
    halves.push_back(
        Op("FullyConnected",
           {.name = absl::StrCat("fc", i), .inputs = {both[i]}, .attrs = {{"num_hidden", "16"}}}));
  }
  const Symbol joined =
      Op("Concat", {.inputs = halves, .attrs = {{"num_args", "2"}, {"dim", "0"}}});
  return Op(
      "LinearRegressionOutput",
      {.name = "loss", .inputs = {Op("tanh", {.inputs = {joined}}), Symbol::Variable("label")}});
}

KnownShapes DataAndLabel(const PartialShape& data, const PartialShape& label) {
  return {{"data", data}, {"label", label}};
}

std::vector<Net> Nets() {
  return {
      {"dense", Dense,
       [](int64_t n) {
         return DataAndLabel({n, 10}, {n});
       }},
      {"words", [] { return Words("NTC"); },
       [](int64_t n) {
         return DataAndLabel({n, kSteps}, {n, kSteps});
       }},
      {"words, time first", [] { return Words("TNC"); },
       [](int64_t n) {
         return DataAndLabel({kSteps, n}, {kSteps, n});
       }},
      {"images", Images,
       [](int64_t n) {
         return DataAndLabel({n, 2, 8, 8}, {n});
       }},
      {"halves", Halves,
       [](int64_t n) {
         return DataAndLabel({2 * n, 16}, {2 * n, 16});
       }},
  };
}

bool IsInput(const std::string& name) { return name == "data" || name == "label"; }

// Returns arrays for a program: parameters from `parameters`, to which it adds missing ones, and
// inputs and gradients of its own.
ProgramArrays ArraysFor(const CompiledProgram& compiled,
                        std::map<std::string, NDArray>& parameters) {
  const Program& p = compiled.program();
  ProgramArrays arrays;
  for (size_t i = 0; i < p.arg_names.size(); ++i) {
    const std::string& name = p.arg_names[i];
    const Shape& shape = compiled.arg_shapes()[i];
    if (IsInput(name)) {
      std::vector<float> values;
      for (int64_t k = 0; k < shape.num_elements(); ++k) {
        values.push_back(static_cast<float>(k * 7 % kWords % 3));
      }
      arrays.args.push_back(*NDArray::FromVector<float>(shape, values));
    } else {
      NDArray& array = parameters[name];
      if (array.is_null()) {
        array = *NDArray::Zeros(shape);
        FillRandom(array, i + 1);
      }
      arrays.args.push_back(array);
    }
    arrays.grads.push_back(*NDArray::Zeros(shape));
  }
  for (const Shape& shape : compiled.aux_shapes()) arrays.auxs.push_back(*NDArray::Zeros(shape));
  return arrays;
}

std::map<std::string, WriteReq> Gradients(const Symbol& symbol) {
  std::map<std::string, WriteReq> reqs;
  for (const std::string& name : symbol.ListArguments()) {
    if (!IsInput(name)) reqs[name] = WriteReq::kWrite;
  }
  return reqs;
}

// Compiles Dense for a batch of 4.
absl::StatusOr<std::shared_ptr<const CompiledProgram>> CompileDense() {
  const Symbol symbol = Dense();
  return CompiledProgram::Compile(
      symbol, {.shapes = DataAndLabel({4, 10}, {4}), .types = {}, .grad_reqs = Gradients(symbol)});
}

// Returns outputs and gradients of some training steps.
std::vector<std::vector<float>> Train(BoundProgram& run, const ProgramArrays& arrays) {
  std::vector<std::vector<float>> values;
  for (int step = 0; step < 3; ++step) {
    COOPER_EXPECT_OK(run.Forward(/*is_train=*/true));
    COOPER_EXPECT_OK(run.Backward());
    const auto outputs = run.outputs();
    for (const NDArray& output : *outputs) values.push_back(Floats(output));
    for (const NDArray& grad : arrays.grads) values.push_back(Floats(grad));
    for (const NDArray& aux : arrays.auxs) values.push_back(Floats(aux));
  }
  return values;
}

std::vector<std::vector<float>> TrainNew(std::shared_ptr<const CompiledProgram> compiled,
                                         std::map<std::string, NDArray>& parameters,
                                         const std::shared_ptr<Arena>& arena = nullptr) {
  const ProgramArrays arrays = ArraysFor(*compiled, parameters);
  std::vector<std::shared_ptr<Arena>> arenas;
  if (arena != nullptr) arenas = {arena};
  auto run = BoundProgram::Bind(std::move(compiled), arrays, std::move(arenas));
  EXPECT_TRUE(run.ok()) << run.status();
  return Train(**run, arrays);
}

TEST(BoundProgramTest, ThreadsShareOneProgramAndItsParameters) {
  for (const Net& net : Nets()) {
    SCOPED_TRACE(net.name);
    const NameManager names;
    const Symbol symbol = net.make();
    COOPER_ASSERT_OK_AND_ASSIGN(
        const auto compiled,
        CompiledProgram::Compile(
            symbol, {.shapes = net.shapes(6), .types = {}, .grad_reqs = Gradients(symbol)}));
    std::map<std::string, NDArray> parameters;
    const auto alone = TrainNew(compiled, parameters);
    constexpr int kThreads = 8;
    std::vector<std::vector<std::vector<float>>> results(kThreads);
    std::vector<std::thread> threads;
    for (auto& result : results) {
      threads.emplace_back([&] { result = TrainNew(compiled, parameters); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& result : results) EXPECT_TRUE(result == alone);
  }
}

TEST(BoundProgramTest, SmallerBatchesRunInThePlanOfTheLargest) {
  for (const Net& net : Nets()) {
    SCOPED_TRACE(net.name);
    const NameManager names;
    const Symbol symbol = net.make();
    const CompileOptions options{
        .shapes = net.shapes(32), .types = {}, .grad_reqs = Gradients(symbol)};
    COOPER_ASSERT_OK_AND_ASSIGN(const auto largest, CompiledProgram::Compile(symbol, options));
    const auto arena = std::make_shared<Arena>(Context::Cpu());
    std::map<std::string, NDArray> parameters;
    TrainNew(largest, parameters, arena);
    const int64_t arena_bytes = arena->bytes();
    for (int64_t batch = 1; batch <= 32; ++batch) {
      SCOPED_TRACE(batch);
      COOPER_ASSERT_OK_AND_ASSIGN(const auto resized, largest->Resize(net.shapes(batch)));
      EXPECT_EQ(&resized->layout(), &largest->layout());
      CompileOptions own_options = options;
      own_options.shapes = net.shapes(batch);
      COOPER_ASSERT_OK_AND_ASSIGN(const auto own, CompiledProgram::Compile(symbol, own_options));
      EXPECT_TRUE(resized->IsFor(symbol, own->options()));
      EXPECT_TRUE(TrainNew(resized, parameters, arena) == TrainNew(own, parameters));
    }
    EXPECT_EQ(arena->bytes(), arena_bytes);
  }
}

TEST(BoundProgramTest, LargerShapesAreRefused) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto compiled, CompileDense());
  EXPECT_THAT(compiled->Resize({{"data", {5, 10}}, {"label", {5}}}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("argument 'data' of shape (5, 10) is larger than in the plan")));
  // The shape of a weight cannot change either.
  EXPECT_THAT(compiled->Resize({{"data", {4, 9}}, {"fc1_weight", {12, 10}}}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("fc1")));
  // The data have as many elements as planned, but the layer's output has more.
  const Symbol layer =
      Op("FullyConnected",
         {.name = "fc", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "12"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(const auto wide,
                              CompiledProgram::Compile(layer, {.shapes = {{"data", {4, 10}}}}));
  EXPECT_THAT(wide->Resize({{"data", {5, 8}}, {"fc_weight", {12, 8}}}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("are planned for it")));
}

TEST(BoundProgramTest, SaysWhichArrayIsWrong) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto compiled, CompileDense());
  std::map<std::string, NDArray> parameters;
  ProgramArrays arrays = ArraysFor(*compiled, parameters);
  arrays.args[1] = *NDArray::Zeros({3, 3});
  EXPECT_THAT(
      BoundProgram::Bind(compiled, arrays).status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("argument 'fc1_weight' is (3, 3) float32 cpu(0), expected (12, 10)")));
  arrays = ArraysFor(*compiled, parameters);
  arrays.grads[1] = NDArray();
  EXPECT_THAT(BoundProgram::Bind(compiled, arrays).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("gradient of 'fc1_weight' is missing")));
}

TEST(BoundProgramTest, BindsToArraysArenasAndRandomNumbersThatAreGiven) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto compiled, CompileDense());
  std::map<std::string, NDArray> parameters;
  ProgramArrays arrays = ArraysFor(*compiled, parameters);
  EXPECT_THAT(
      BoundProgram::Bind(compiled, arrays, {std::make_shared<Arena>(Context::Cpu(1))}).status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("the arena is on cpu(1), the executor on cpu(0)")));
  const auto arena = std::make_shared<Arena>(Context::Cpu());
  const auto random = std::make_shared<RandomState>(RandomState{.seed = 5});
  const NDArray data = arrays.args[0];
  arrays.args[0] = NDArray();  // SetArg may set it later
  COOPER_ASSERT_OK_AND_ASSIGN(const auto bound,
                              BoundProgram::Bind(compiled, arrays, {arena}, random));
  EXPECT_EQ(bound->steps().arenas(), (std::vector<std::shared_ptr<Arena>>{arena}));
  EXPECT_THAT(bound->Forward(/*is_train=*/true),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("argument 'data' has no array; call SetArg first")));
  EXPECT_THAT(bound->SetArg(0, *NDArray::Zeros({4, 9})),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("argument 'data' takes (4, 10) float32 cpu(0), got (4, 9)")));
  COOPER_ASSERT_OK(bound->SetArg(0, data));
  COOPER_ASSERT_OK(bound->Forward(/*is_train=*/true));
  EXPECT_EQ(random->runs, 1u);
  EXPECT_TRUE(arena->user() == bound.get());
  COOPER_ASSERT_OK_AND_ASSIGN(const auto outputs, bound->outputs());
  EXPECT_EQ(outputs[0].storage(), arena->storage());
  COOPER_EXPECT_OK(bound->Backward());
  EXPECT_THAT(bound->Backward(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("once for each Backward")));
}

}  // namespace
}  // namespace cooper
