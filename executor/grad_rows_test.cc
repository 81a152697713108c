// Executor::TrackGradRows: the same gradients, with fewer rows written.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/random.h"
#include "ndarray/row_set.h"
#include "ndarray/status_matchers.h"
#include "symbol/attr_scope.h"
#include "symbol/symbol.h"

namespace cooper {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr int64_t kWords = 9, kWidth = 3;
constexpr float kMark = 7;

struct Net {
  bool tied = false;   // beside rows of the weight, all of it
  bool twice = false;  // rows of the weight for two inputs
  int64_t words = 4;
  WriteReq req = WriteReq::kWrite;
  bool elsewhere = false;  // on a context of its own
};

// Of two element-wise operators, which are run as one unless there is a monitor.
Symbol SquaredSum(const Symbol& x) {
  const Symbol squares = Op("square", {.inputs = {Op("tanh", {.inputs = {x}})}});
  return Op("sum", {.inputs = {squares}});
}

// The sum of squares of rows of the weight.
Symbol Words(const Net& net) {
  const AttrScope scope(AttrMap{{"ctx_group", "words"}});
  const Symbol weight = Symbol::Variable("weight", {.shape = PartialShape({kWords, kWidth})});
  const auto embedded = [&](const char* data) {
    return SquaredSum(Op("Embedding", {.inputs = {Symbol::Variable(data), weight},
                                       .attrs = {{"input_dim", "9"}, {"output_dim", "3"}}}));
  };
  std::vector<Symbol> terms = {embedded("data")};
  if (net.tied) terms.push_back(SquaredSum(weight));
  if (net.twice) terms.push_back(embedded("more"));
  return Op("MakeLoss",
            {.name = "loss",
             .inputs = {Op("add_n", {.inputs = terms,
                                     .attrs = {{"num_args", absl::StrCat(terms.size())}}})}});
}

std::unique_ptr<Executor> BindNet(const Net& net, const ArrayMap& args = {},
                                  const ArrayMap& grads = {}) {
  BindOptions options{.shapes = {{"data", {net.words}}},
                      .grad_reqs = {{"data", WriteReq::kNull}, {"weight", net.req}},
                      .args = args,
                      .grads = grads};
  if (net.elsewhere) options.group2ctx = {{"words", Context::Cpu(1)}};
  if (net.twice) {
    options.shapes["more"] = PartialShape({net.words});
    options.grad_reqs["more"] = WriteReq::kNull;
  }
  auto executor = Executor::SimpleBind(Words(net), options);
  EXPECT_TRUE(executor.ok()) << executor.status();
  return *std::move(executor);
}

void RunWith(Executor& executor, const std::vector<float>& words) {
  COOPER_ASSERT_OK(executor.arg("data").CopyFrom(
      *NDArray::FromVector<float>({static_cast<int64_t>(words.size())}, words)));
  if (const NDArray more = executor.arg("more"); !more.is_null()) {
    COOPER_ASSERT_OK(more.CopyFrom(executor.arg("data")));
    const absl::Span<float> values = *more.Data<float>();
    for (float& word : values) word = 5 - word;
  }
  COOPER_ASSERT_OK(executor.Forward(true));
  COOPER_ASSERT_OK(executor.Backward());
}

void Mark(const NDArray& array, int64_t row) { COOPER_ASSERT_OK(array.At(row)->Fill(kMark)); }

std::vector<float> RowOf(const NDArray& array, int64_t row) { return Floats(*array.At(row)); }

// Executors of several networks that share weight and gradient, in any order: what each run leaves
// is what an executor of its own without a set gives.
void ExpectSameGradients(const std::vector<Net>& nets) {
  const NDArray weight = *NDArray::Empty({kWords, kWidth});
  FillRandom(weight, 1);
  const NDArray grad = *NDArray::Zeros({kWords, kWidth});
  const NDArray expected = *NDArray::Zeros({kWords, kWidth});
  const auto rows = std::make_shared<RowSet>(kWords);
  std::vector<std::unique_ptr<Executor>> tracked, plain;
  for (const Net& net : nets) {
    tracked.push_back(BindNet(net, {{"weight", weight}}, {{"weight", grad}}));
    COOPER_ASSERT_OK(tracked.back()->TrackGradRows("weight", rows));
    plain.push_back(BindNet(net, {{"weight", weight}}, {{"weight", expected}}));
  }
  RandomGenerator random(2);
  for (int run = 0; run < 20; ++run) {
    const size_t i = random.NextBelow(nets.size());
    std::vector<float> words;
    for (int64_t k = 0; k < nets[i].words; ++k) {
      words.push_back(static_cast<float>(random.NextBelow(kWords + 2)) - 1);  // some are clipped
    }
    RunWith(*tracked[i], words);
    RunWith(*plain[i], words);
    ASSERT_EQ(Floats(grad), Floats(expected)) << "run " << run;
    if (rows->all()) continue;
    for (int64_t row = 0; row < kWords; ++row) {
      if (!absl::c_linear_search(rows->rows(), row)) {
        EXPECT_THAT(RowOf(grad, row), Each(0)) << "run " << run << " row " << row;
      }
    }
  }
}

TEST(GradRowsTest, SameGradients) { ExpectSameGradients({{.words = 4}, {.words = 1}}); }

TEST(GradRowsTest, SameGradientsIfSomeWriteAllOfIt) {
  ExpectSameGradients({{.words = 4}, {.tied = true, .words = 2}, {.words = 3}});
}

TEST(GradRowsTest, SameGradientsOfTwoEmbeddings) {
  ExpectSameGradients({{.words = 4}, {.twice = true, .words = 2}, {.twice = true, .words = 1}});
}

TEST(GradRowsTest, SameGradientsIfSomeAddToIt) {
  ExpectSameGradients({{.words = 2}, {.words = 1, .req = WriteReq::kAdd}, {.words = 3}});
}

TEST(GradRowsTest, SameGradientsOnAnotherContext) {
  ExpectSameGradients({{.words = 3, .elsewhere = true}, {.words = 2}});
}

TEST(GradRowsTest, ClearsNoOtherRows) {
  auto executor = BindNet({});
  const NDArray grad = executor->grad("weight");
  const auto rows = std::make_shared<RowSet>(kWords);
  COOPER_ASSERT_OK(executor->TrackGradRows("weight", rows));
  Mark(grad, 8);
  RunWith(*executor, {1, 2, 1, 5});
  EXPECT_THAT(RowOf(grad, 8), Each(0)) << "nothing was known before";
  EXPECT_THAT(rows->rows(), UnorderedElementsAre(1, 2, 5));
  Mark(grad, 5);
  Mark(grad, 8);
  RunWith(*executor, {0, 1, 1, 1});
  EXPECT_THAT(rows->rows(), UnorderedElementsAre(0, 1));
  EXPECT_THAT(RowOf(grad, 5), Each(0));
  EXPECT_THAT(RowOf(grad, 8), Each(kMark)) << "it was written to, against what was promised";
}

// Whoever can get at the gradient may write to it.
TEST(GradRowsTest, IsGivenUpWhereTheGradientIsHandedOut) {
  using HandOut = void (*)(Executor&);
  const HandOut ways[] = {
      [](Executor& executor) { EXPECT_FALSE(executor.grad("weight").is_null()); },
      [](Executor& executor) { EXPECT_EQ(executor.grad_dict().size(), 1); },
      [](Executor& executor) {
        EXPECT_TRUE(executor.Reshape({{"data", {2}}}, /*partial_shaping=*/true).ok());
      },
      [](Executor& executor) {
        executor.SetMonitorCallback([](const std::string&, const NDArray&) {});
        executor.SetMonitorCallback(nullptr);
      },
      [](Executor& executor) {
        executor.SetMonitorCallback([](const std::string&, const NDArray&) {});
        RunWith(executor, {3, 3, 3, 3});
        executor.SetMonitorCallback(nullptr);
      },
  };
  for (const HandOut hand_out : ways) {
    auto executor = BindNet({});
    const NDArray grad = executor->grad("weight");
    const auto rows = std::make_shared<RowSet>(kWords);
    COOPER_ASSERT_OK(executor->TrackGradRows("weight", rows));
    RunWith(*executor, {1, 2, 1, 5});
    EXPECT_FALSE(rows->all());
    EXPECT_TRUE(executor->grad("data").is_null());
    EXPECT_FALSE(rows->all()) << "that was another name";
    hand_out(*executor);
    for (int run = 0; run < 2; ++run) {
      EXPECT_TRUE(rows->all());
      Mark(grad, 8);
      RunWith(*executor, {0, 1, 1, 1});
      EXPECT_THAT(RowOf(grad, 8), Each(0));
    }
  }
}

// The graph that was bound for a monitor runs no more when rows are tracked.
TEST(GradRowsTest, OutlastsTheProgramOfAMonitor) {
  const NDArray weight = *NDArray::Full({kWords, kWidth}, 1),
                grad = *NDArray::Empty(weight.shape());
  auto monitored = BindNet({}, {{"weight", weight}}, {{"weight", grad}});
  auto other = BindNet({}, {{"weight", weight}}, {{"weight", grad}});
  monitored->SetMonitorCallback([](const std::string&, const NDArray&) {});
  RunWith(*monitored, {0, 0, 0, 0});
  monitored->SetMonitorCallback(nullptr);
  const auto rows = std::make_shared<RowSet>(kWords);
  COOPER_ASSERT_OK(monitored->TrackGradRows("weight", rows));
  COOPER_ASSERT_OK(other->TrackGradRows("weight", rows));
  RunWith(*other, {1, 1, 1, 1});
  RunWith(*monitored, {2, 2, 2, 2});
  EXPECT_THAT(rows->rows(), UnorderedElementsAre(2));
  EXPECT_THAT(RowOf(grad, 1), Each(0));
}

TEST(GradRowsTest, NamesWhatDoesNotFit) {
  auto executor = BindNet({});
  EXPECT_THAT(executor->TrackGradRows("data", std::make_shared<RowSet>(4)),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'data' has no gradient")));
  EXPECT_THAT(executor->TrackGradRows("weight", std::make_shared<RowSet>(3)),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'weight' is (9, 3) float32 cpu(0), the set is of 3 rows")));
}

}  // namespace
}  // namespace cooper
