// Checks that networks bound with and without the pass compute the same.

#include "executor/passes/graph/fuse_softmax_output.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/threads/parallel.h"
#include "symbol/graph/symbol.h"

namespace cooper {
namespace {

Symbol Classifier(int64_t classes, AttrMap fc_attrs, AttrMap softmax_attrs) {
  fc_attrs["num_hidden"] = absl::StrCat(classes);
  const Symbol hidden = Op("tanh", {.inputs = {Symbol::Variable("data")}});
  const Symbol scores =
      Op("FullyConnected", {.name = "pred", .inputs = {hidden}, .attrs = std::move(fc_attrs)});
  return Op("SoftmaxOutput",
            {.name = "softmax", .inputs = {scores}, .attrs = std::move(softmax_attrs)});
}

// The parameters of one comparison.
struct Run {
  int64_t rows = 0, features = 0;
  DType dtype = DType::kFloat32;
  WriteReq req = WriteReq::kWrite;
  double share_ignored = 0;  // fraction of rows whose label is 0
  bool fused = true;         // whether the pass is expected to fuse
};

void ExpectSame(const Symbol& symbol, int64_t classes, const Run& run) {
  SCOPED_TRACE(absl::StrCat(run.rows, " rows, ", run.features, " features, ", classes, " classes"));
  std::vector<std::unique_ptr<Executor>> executors;
  for (const bool fuse : {true, false}) {
    BindOptions options{.shapes = {{"data", {run.rows, run.features}}},
                        .types = {{"data", run.dtype}},
                        .grad_req = run.req,
                        .grad_reqs = {{"softmax_label", WriteReq::kNull}}};
    if (!fuse) options.disabled_passes = {"softmax_output"};
    auto bound = Executor::SimpleBind(symbol, options);
    ASSERT_TRUE(bound.ok()) << bound.status();
    executors.push_back(*std::move(bound));
  }
  Executor& fused = *executors[0];
  Executor& plain = *executors[1];
  const std::string text = fused.DebugString();
  EXPECT_EQ(text.find("_fc_softmax_output") != std::string::npos, run.fused) << text;
  EXPECT_EQ(plain.DebugString().find("_fc_softmax_output"), std::string::npos);
  uint64_t seed = 1;
  for (const std::string& name : fused.arg_names()) {
    const NDArray random = *NDArray::Empty(fused.arg(name).shape());
    FillRandom(random, seed++);
    if (name == "softmax_label") {
      RandomGenerator generator(7);
      const absl::Span<float> labels = *random.Data<float>();
      for (float& label : labels) {
        const bool ignored = generator.NextUniform() < run.share_ignored;
        label = ignored ? 0.0f : 1.0f + static_cast<float>(generator.NextBelow(classes - 1));
      }
    }
    for (Executor* executor : {&fused, &plain}) {
      COOPER_ASSERT_OK(executor->arg(name).CopyFrom(random));
      if (executor->grad(name).is_null()) continue;
      COOPER_ASSERT_OK(executor->grad(name).Fill(0.25));
    }
  }
  std::vector<std::vector<double>> outputs;
  for (auto& executor : executors) {
    COOPER_ASSERT_OK(executor->Forward(/*is_train=*/true));
    outputs.push_back(*(*executor->outputs())[0].ToVector<double>());
    if (run.req == WriteReq::kNull) continue;
    COOPER_ASSERT_OK(executor->Backward());
  }
  const double tolerance = run.dtype == DType::kFloat64 ? 1e-12 : 2e-5;
  auto expect_near = [&](const std::vector<double>& a, const std::vector<double>& b,
                         const std::string& what) {
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << what << " at " << i;
    }
  };
  expect_near(outputs[0], outputs[1], "output");
  for (const auto& [name, grad] : fused.grad_dict()) {
    expect_near(*grad.ToVector<double>(), *plain.grad(name).ToVector<double>(), name);
  }
}

TEST(FuseSoftmaxOutputTest, EveryParameter) {
  for (const char* normalization : {"null", "batch", "valid"}) {
    for (const char* use_ignore : {"True", "False"}) {
      for (const char* no_bias : {"True", "False"}) {
        const Symbol net = Classifier(11, {{"no_bias", no_bias}},
                                      {{"normalization", normalization},
                                       {"use_ignore", use_ignore},
                                       {"ignore_label", "0"},
                                       {"grad_scale", "0.5"}});
        for (const double share : {0.0, 0.4, 1.0}) {
          for (const WriteReq req : {WriteReq::kWrite, WriteReq::kAdd, WriteReq::kNull}) {
            ExpectSame(net, 11, {.rows = 13, .features = 5, .req = req, .share_ignored = share});
          }
        }
      }
    }
  }
}

// Enough classes that both passes use several blocks, the last of which is smaller.
TEST(FuseSoftmaxOutputTest, SeveralBlocks) {
  const int64_t classes = 22000;
  const Symbol net = Classifier(classes, {}, {{"use_ignore", "True"}, {"ignore_label", "0"}});
  ExpectSame(net, classes, {.rows = 150, .features = 3});
  ExpectSame(net, classes,
             {.rows = 150, .features = 3, .req = WriteReq::kAdd, .share_ignored = 0.3});
}

// Enough classes that each thread has its own slice of them.
TEST(FuseSoftmaxOutputTest, ClassesInSlices) {
  const int64_t classes = 1100;
  SetNumThreads(4);
  for (const char* use_ignore : {"True", "False"}) {
    const Symbol net = Classifier(classes, {}, {{"use_ignore", use_ignore}, {"ignore_label", "0"}});
    for (const WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
      for (const double share : {0.0, 0.3}) {
        ExpectSame(net, classes, {.rows = 50, .features = 9, .req = req, .share_ignored = share});
      }
    }
  }
  SetNumThreads(0);
}

TEST(FuseSoftmaxOutputTest, ABiasMayBeAColumn) {
  const Symbol scores =
      Op("FullyConnected", {.name = "pred",
                            .inputs = {Symbol::Variable("data")},
                            .named = {{"bias", Symbol::Variable("bias", {.shape = {11, 1}})}},
                            .attrs = {{"num_hidden", "11"}}});
  const Symbol net = Op("SoftmaxOutput", {.name = "softmax", .inputs = {scores}});
  ExpectSame(net, 11, {.rows = 13, .features = 5});
}

TEST(FuseSoftmaxOutputTest, Doubles) {
  const Symbol net = Classifier(11, {}, {{"use_ignore", "True"}, {"ignore_label", "0"}});
  ExpectSame(net, 11, {.rows = 13, .features = 5, .dtype = DType::kFloat64, .share_ignored = 0.4});
}

TEST(FuseSoftmaxOutputTest, LeavesOthersAlone) {
  for (const AttrMap& attrs : {AttrMap{{"smooth_alpha", "0.1"}}, AttrMap{{"out_grad", "True"}},
                               AttrMap{{"multi_output", "True"}}}) {
    ExpectSame(Classifier(11, {}, attrs), 11, {.rows = 13, .features = 5, .fused = false});
  }
  const Symbol scores =
      Op("FullyConnected",
         {.name = "pred", .inputs = {Symbol::Variable("data")}, .attrs = {{"num_hidden", "11"}}});
  const Symbol softmax = Op("SoftmaxOutput", {.name = "softmax", .inputs = {scores}});
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol both, Symbol::Group({softmax, scores}));
  ExpectSame(both, 11, {.rows = 13, .features = 5, .req = WriteReq::kNull, .fused = false});
}

}  // namespace
}  // namespace cooper
