// Tests PrepareAll on several threads: bound buckets, values, memory and errors equal those of one
// thread.

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/bucketing/bucketing_module.h"
#include "module/initializer/initializers.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"
#include "tests/module/expect_params.h"
#include "tests/module/module_fixtures.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kRows = 4;
constexpr int kThreads[] = {1, 2, 3, 8};

BucketShapes ShapesOf(int64_t length) {
  return {.key = length,
          .data_shapes = {{.name = "data", .shape = {kRows, length, 3}, .layout = "NTC"}},
          .label_shapes = {{.name = "softmax_label", .shape = {kRows}, .layout = "N"}}};
}

std::vector<BucketShapes> ShapesOfAll(const std::vector<int64_t>& lengths) {
  std::vector<BucketShapes> shapes;
  for (int64_t length : lengths) shapes.push_back(ShapesOf(length));
  return shapes;
}

DataBatch BatchOf(int64_t length, uint64_t seed) {
  const BucketShapes shapes = ShapesOf(length);
  return {.data = {RandomArray({kRows, length, 3}, seed)},
          .label = {Classes(kRows, 2, seed)},
          .bucket_key = shapes.key,
          .provide_data = shapes.data_shapes,
          .provide_label = shapes.label_shapes};
}

Symbol Dense(const std::string& name, const Symbol& input, const char* num_hidden) {
  return Op("FullyConnected",
            {.name = name, .inputs = {input}, .attrs = {{"num_hidden", num_hidden}}});
}

// Returns a generator of networks: the mean over the steps, then as many layers as there are steps.
// The buckets share the node of the mean and the names of the layers. Lengths above 100 are faulty:
//
//   101  layer1 has another size than in the other buckets (the default one has no layer1)
//   102  a shape cannot be inferred
//   103  sym_gen fails
//   104  the symbol has neither the label nor the argument `data`
//
// Length 20 declares the shape of a parameter that length 21 needs and cannot infer.
SymGen MakeSymGen() {
  const Symbol mean =
      Op("mean", {.name = "mean", .inputs = {Symbol::Variable("data")}, .attrs = {{"axis", "1"}}});
  return [mean](const BucketKey& key) -> absl::StatusOr<BucketSymbol> {
    const int64_t length = key.int_value();
    if (length == 103) return absl::ResourceExhaustedError("no such length");
    if (length == 104) return BucketSymbol{.symbol = Dense("fc", Symbol::Variable("x"), "2")};
    Symbol features = mean;
    for (int64_t i = 0; i < (length > 100 ? 3 : length); ++i) {
      const bool other = length == 101 && i == 1;
      features = Dense("layer" + std::to_string(i), features, other ? "4" : "3");
      features = Op("Activation", {.inputs = {features}, .attrs = {{"act_type", "tanh"}}});
    }
    if (length == 20 || length == 21 || length == 102) {
      const char* name = length == 102 ? "unknown_weight" : "scale_weight";
      VariableOptions options;
      if (length == 20) options.shape = PartialShape({1, 3});
      features = Op("broadcast_mul", {.inputs = {Symbol::Variable(name, options), features}});
    }
    return BucketSymbol{
        .symbol = Op("SoftmaxOutput", {.name = "softmax", .inputs = {Dense("fc", features, "2")}})};
  };
}

class PrepareAllTest : public testing::Test {
 protected:
  ~PrepareAllTest() override { SetNumThreads(threads_); }

 private:
  const int threads_ = NumThreads();
};

// Returns a module bound to one step, with parameters and sgd with momentum, for this many threads.
std::unique_ptr<BucketingModule> MakeModel(int threads, BucketingModuleOptions options = {}) {
  SetNumThreads(threads);
  if (!options.sym_gen) options.sym_gen = MakeSymGen();
  options.default_bucket_key = 1;
  auto model = BucketingModule::Create(std::move(options));
  EXPECT_TRUE(model.ok()) << model.status();
  const BucketShapes shapes = ShapesOf(1);
  COOPER_EXPECT_OK(
      (*model)->Bind({.data_shapes = shapes.data_shapes, .label_shapes = shapes.label_shapes}));
  COOPER_EXPECT_OK((*model)->InitParams({.initializer = init::Uniform(1), .seed = 3}));
  COOPER_EXPECT_OK((*model)->InitOptimizer(
      {.optimizer_params = {{"learning_rate", "0.5"}, {"momentum", "0.9"}}}));
  return *std::move(model);
}

// Checks that buckets, programs, plans, arena and parameters are equal.
void ExpectSame(const BucketingModule& a, const BucketingModule& b) {
  ExpectSameParams(a, b);
  EXPECT_EQ(a.group()->arena_bytes(), b.group()->arena_bytes());
  const std::vector<BucketReport> first = a.Report(), second = b.Report();
  ASSERT_EQ(first.size(), second.size());
  for (size_t i = 0; i < first.size(); ++i) {
    ASSERT_EQ(first[i].key, second[i].key);
    EXPECT_EQ(first[i].memory.planned_bytes, second[i].memory.planned_bytes) << first[i].key;
    EXPECT_EQ(a.bucket(first[i].key)->executor_group()->executor(0).DebugString(),
              b.bucket(first[i].key)->executor_group()->executor(0).DebugString());
  }
}

TEST_F(PrepareAllTest, BucketsAreTheSameOnAnyNumberOfThreads) {
  const std::vector<int64_t> lengths = {7, 1, 3, 12, 20, 21, 3, 5};
  std::unique_ptr<BucketingModule> first;
  for (int threads : kThreads) {
    SCOPED_TRACE(threads);
    auto model = MakeModel(threads);
    COOPER_ASSERT_OK_AND_ASSIGN(const auto reports, model->PrepareAll(ShapesOfAll(lengths)));
    ASSERT_EQ(reports.size(), lengths.size());
    for (size_t i = 0; i < lengths.size(); ++i) {
      EXPECT_EQ(reports[i].key, BucketKey(lengths[i]));
      EXPECT_EQ(reports[i].memory.planned_bytes, model->bucket(lengths[i])->memory().planned_bytes);
      EXPECT_GT(reports[i].bind_seconds, 0);
    }
    EXPECT_EQ(*model->current_bucket_key(), BucketKey(1));
    if (first == nullptr) {
      first = std::move(model);
      continue;
    }
    ExpectSame(*first, *model);
  }
  // Binding when batches arrive gives the same, and so do training steps.
  auto lazy = MakeModel(1);
  for (size_t i = 0; i < lengths.size(); ++i)
    COOPER_ASSERT_OK(lazy->Prepare(BatchOf(lengths[i], i)));
  ExpectSame(*first, *lazy);
  auto threaded = MakeModel(4);
  COOPER_ASSERT_OK(threaded->PrepareAll(ShapesOfAll(lengths)));
  SetNumThreads(1);
  for (size_t i = 0; i < lengths.size(); ++i) {
    for (BucketingModule* model : {first.get(), threaded.get()}) {
      COOPER_ASSERT_OK(model->ForwardBackward(BatchOf(lengths[i], i)));
      COOPER_ASSERT_OK(model->Update());
    }
  }
  ExpectSameParams(*first, *threaded);
}

TEST_F(PrepareAllTest, TheErrorIsThatOfTheFirstBadBucket) {
  struct Case {
    std::vector<int64_t> lengths;
    const char* bucket;
    const char* says;
  };
  const Case cases[] = {{{2, 101, 3}, "bucket key 101", "layer1_weight"},
                        {{2, 102, 101, 3}, "bucket key 102", "unknown_weight"},
                        {{2, 101, 103}, "bucket key 101", "layer1_weight"},
                        {{2, 103, 101, 3}, "bucket key 103", "no such length"},
                        {{2, 104, 103, 3}, "bucket key 104", "data"},
                        // 21 needs the shape that 20 declares, so it cannot be bound first.
                        {{2, 21, 20}, "bucket key 21", "scale_weight"}};
  for (const Case& c : cases) {
    absl::Status expected;
    std::unique_ptr<BucketingModule> first;
    for (int threads : kThreads) {
      SCOPED_TRACE(threads);
      auto model = MakeModel(threads);
      const absl::Status status = model->PrepareAll(ShapesOfAll(c.lengths)).status();
      EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr(c.bucket), HasSubstr(c.says)));
      ASSERT_EQ(model->Report().size(), 2u) << "1 and 2";
      EXPECT_NE(model->bucket(2), nullptr);
      if (first == nullptr) {
        expected = status;
        first = std::move(model);
        continue;
      }
      EXPECT_EQ(status, expected);
      ExpectSame(*first, *model);  // nothing is left of the bad one, nor of those after it
      // The others can be bound afterwards.
      COOPER_EXPECT_OK(model->PrepareAll(ShapesOfAll({3, 20, 21})));
    }
  }
}

TEST_F(PrepareAllTest, ABucketWithoutShapesIsNamed) {
  for (int threads : kThreads) {
    auto model = MakeModel(threads);
    std::vector<BucketShapes> shapes = ShapesOfAll({2, 3, 5});
    shapes[1].data_shapes.clear();
    EXPECT_THAT(model->PrepareAll(shapes),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("bucket key 3"), HasSubstr("provide_data"))));
    EXPECT_EQ(model->Report().size(), 2u);
    // Buckets that are already bound need no shapes.
    shapes[0].data_shapes.clear();
    shapes[1] = ShapesOf(3);
    COOPER_EXPECT_OK(model->PrepareAll(shapes));
    EXPECT_EQ(model->Report().size(), 4u);
  }
}

TEST_F(PrepareAllTest, SymGenIsCalledOnTheThreadOfTheCaller) {
  for (int threads : kThreads) {
    std::vector<int64_t> asked;
    const std::thread::id caller = std::this_thread::get_id();
    const BucketingModule* bound = nullptr;
    const SymGen sym_gen = [&](const BucketKey& key) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      asked.push_back(key.int_value());
      // On several threads symbols are generated ahead of binding.
      if (key == BucketKey(5)) {
        EXPECT_EQ(bound->Report().size(), threads == 1 ? 3u : 1u);
      }
      return MakeSymGen()(key);
    };
    auto model = MakeModel(threads, {.sym_gen = sym_gen});
    bound = model.get();
    asked.clear();
    COOPER_ASSERT_OK(model->PrepareAll(ShapesOfAll({7, 2, 7, 1, 5})));
    EXPECT_THAT(asked, ElementsAre(7, 2, 5)) << "once each, in order";
  }
}

TEST_F(PrepareAllTest, AtMostSoManyBucketsStayBound) {
  std::unique_ptr<BucketingModule> first;
  for (int threads : kThreads) {
    SCOPED_TRACE(threads);
    auto model = MakeModel(threads, {.max_bound_buckets = 2});
    COOPER_ASSERT_OK_AND_ASSIGN(const auto reports,
                                model->PrepareAll(ShapesOfAll({7, 2, 7, 3, 2, 5})));
    EXPECT_EQ(reports.size(), 6u);
    EXPECT_EQ(model->Report().size(), 2u);
    EXPECT_NE(model->bucket(1), nullptr) << "the current one";
    EXPECT_NE(model->bucket(5), nullptr);
    if (first == nullptr) {
      first = std::move(model);
    } else {
      ExpectSame(*first, *model);
    }
  }
}

TEST_F(PrepareAllTest, SeveralContextsAreBoundOneAfterTheOther) {
  std::unique_ptr<BucketingModule> first;
  for (int threads : {1, 4}) {
    auto model = MakeModel(threads, {.compute = {.contexts = {Context::Cpu(0), Context::Cpu(1)}}});
    COOPER_ASSERT_OK(model->PrepareAll(ShapesOfAll({7, 2, 3})));
    EXPECT_THAT(model->PrepareAll(ShapesOfAll({4, 101})).status().message(),
                HasSubstr("bucket key 101"));
    if (first == nullptr) {
      first = std::move(model);
    } else {
      ExpectSame(*first, *model);
    }
  }
}

}  // namespace
}  // namespace cooper
