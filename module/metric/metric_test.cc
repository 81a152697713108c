#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "module/metric/classification.h"
#include "module/metric/composite_metric.h"
#include "module/metric/confusion.h"
#include "module/metric/create_metric.h"
#include "module/metric/custom_metric.h"
#include "module/metric/eval_metric.h"
#include "module/metric/metric_registry.h"
#include "module/metric/regression.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

NDArray Array(const Shape& shape, const std::vector<float>& values) {
  return *NDArray::FromVector<float>(shape, values);
}

std::unique_ptr<EvalMetric> Make(absl::string_view name, const Kwargs& kwargs = {}) {
  auto metric = CreateMetric(name, kwargs);
  EXPECT_TRUE(metric.ok()) << metric.status();
  return *std::move(metric);
}

TEST(MetricTest, TheTargetOfEachIsKnown) {
  std::vector<std::string> names;
  for (const auto& [name, target] : Metrics().targets()) names.push_back(name);
  EXPECT_EQ(names, Metrics().names());
}

double Value(const EvalMetric& metric) { return metric.GetNameValue().at(0).second; }
double GlobalValue(const EvalMetric& metric) { return metric.GetGlobalNameValue().at(0).second; }

struct Batch {
  NDArray label;
  NDArray pred;
};

struct Case {
  const char* metric;
  Kwargs kwargs;
  const char* name;
  std::vector<Batch> batches;
  std::vector<double> values;  // after each batch
};

std::vector<Case> Cases() {
  const Batch classes = {Array({4}, {0, 1, 2, 1}), Array({4, 3}, {.7f, .2f, .1f,  //
                                                                  .3f, .3f, .4f,  //
                                                                  .2f, .6f, .2f,  //
                                                                  .1f, .8f, .1f})};
  const Batch binary_a = {Array({3}, {1, 0, 1}), Array({3, 2}, {.1f, .9f, .2f, .8f, .3f, .7f})};
  const Batch binary_b = {Array({2}, {0, 1}), Array({2, 2}, {.9f, .1f, .8f, .2f})};
  const Batch numbers_a = {Array({2}, {1, 2}), Array({2, 1}, {2, 4})};
  const Batch numbers_b = {Array({3}, {1, 2, 3}), Array({3, 1}, {1, 2, 6})};
  const Batch line = {Array({3}, {1, 2, 3}), Array({3}, {2, 4, 5})};
  // Softmax over time-major positions: (2, 2) labels for (4, 2) predictions.
  const Batch sequence = {Array({2, 2}, {0, 1, 1, -1}),
                          Array({4, 2}, {.5f, .5f, .75f, .25f, .9f, .1f, .3f, .7f})};
  const auto log = [](double x) { return std::log(x); };
  const float nan = std::nanf("");
  return {
      {"acc", {}, "accuracy", {classes}, {0.5}},
      {"Accuracy", {{"ignore_label", "2"}}, "accuracy", {classes}, {2 / 3.0}},
      {"acc", {}, "accuracy", {{Array({2, 2}, {1, 2, 3, 4}), Array({2, 2}, {1, 0, 3, 0})}}, {0.5}},
      {"acc",
       {{"axis", "0"}},
       "accuracy",
       {{Array({2}, {1, 1}), Array({2, 2}, {1, 2, 3, 1})}},
       {0.5}},
      {"top_k_accuracy", {{"top_k", "2"}}, "top_k_accuracy_2", {classes}, {0.5}},
      // NaN is not among the largest.
      {"top_k_accuracy",
       {{"top_k", "2"}},
       "top_k_accuracy_2",
       {{Array({3}, {0, 1, 2}), Array({3, 3}, {nan, nan, nan,  //
                                               .5f, nan, .1f,  //
                                               .1f, nan, .2f})}},
       {1 / 3.0}},
      {"ce", {}, "cross-entropy", {classes}, {-(log(.7) + log(.3) + log(.2) + log(.8)) / 4}},
      {"ce",
       {{"ignore_label", "2"}},
       "cross-entropy",
       {classes},
       {-(log(.7) + log(.3) + log(.8)) / 3}},
      {"nll_loss", {}, "nll-loss", {classes}, {-(log(.7) + log(.3) + log(.2) + log(.8)) / 4}},
      {"perplexity",
       {{"ignore_label", "-1"}},
       "perplexity",
       {sequence},
       {std::exp(-(log(.5) + log(.25) + log(.1)) / 3)}},
      {"perplexity",
       {{"ignore_label", "None"}},
       "perplexity",
       {sequence, sequence},
       {std::exp(-(log(.5) + log(.25) + log(.1) + log(.3)) / 4),
        std::exp(-(log(.5) + log(.25) + log(.1) + log(.3)) / 4)}},
      {"perplexity", {}, "perplexity", {{Array({1}, {0}), Array({1, 2}, {0, 1})}}, {1e10}},
      // Batch a: two true, one false positive; batch b: one true negative, one false negative.
      {"f1", {}, "f1", {binary_a, binary_b}, {0.8, 0.4}},
      {"f1", {{"average", "micro"}}, "f1", {binary_a, binary_b}, {0.8, 2 * 2 / (2 * 2 + 1 + 1.0)}},
      {"mcc",
       {{"average", "micro"}},
       "mcc",
       {binary_a, binary_b},
       {0, (2 * 1 - 1 * 1) / std::sqrt(3.0 * 3 * 2 * 2)}},
      {"pcc",
       {},
       "pcc",
       {binary_a, binary_b},
       {std::nan(""), (2 * 1 - 1 * 1) / std::sqrt(3.0 * 3 * 2 * 2)}},
      {"mae", {}, "mae", {numbers_a, numbers_b}, {1.5, (1.5 + 1) / 2}},
      {"mse", {}, "mse", {numbers_a, numbers_b}, {2.5, (2.5 + 3) / 2}},
      {"rmse",
       {},
       "rmse",
       {numbers_a, numbers_b},
       {std::sqrt(2.5), (std::sqrt(2.5) + std::sqrt(3)) / 2}},
      {"pearsonr", {}, "pearsonr", {line}, {3 / std::sqrt(2 * 14 / 3.0)}},
      {"pearsonr",
       {{"average", "micro"}},
       "pearsonr",
       {line, line},
       {3 / std::sqrt(2 * 14 / 3.0), 3 / std::sqrt(2 * 14 / 3.0)}},
      {"loss", {}, "loss", {numbers_a, numbers_b}, {3, 3}},
      {"mae", {{"name", "error"}}, "error", {numbers_a}, {1.5}},
  };
}

void ExpectSame(double value, double expected, const std::string& what) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(value)) << what << ": " << value;
  } else {
    EXPECT_NEAR(value, expected, 1e-6 * std::abs(expected) + 1e-9) << what;
  }
}

TEST(MetricTest, OptionsMayBeLeftOut) {
  std::vector<std::string> names;
  for (const auto& metric :
       {Accuracy(), Perplexity(), CrossEntropy(), NegativeLogLikelihood(), F1(), Mcc(), Pcc(),
        Mae(), Mse(), Rmse(), PearsonCorrelation(), Loss()}) {
    names.push_back(metric->GetNameValue().at(0).first);
  }
  EXPECT_EQ(absl::StrJoin(names, " "),
            "accuracy perplexity cross-entropy nll-loss f1 mcc pcc mae mse rmse pearsonr loss");
}

TEST(MetricTest, GivesTheValues) {
  for (const Case& c : Cases()) {
    const auto metric = Make(c.metric, c.kwargs);
    EXPECT_EQ(metric->GetNameValue()[0].first, c.name);
    EXPECT_TRUE(std::isnan(Value(*metric)));
    for (size_t i = 0; i < c.batches.size(); ++i) {
      COOPER_ASSERT_OK(metric->Update({c.batches[i].label}, {c.batches[i].pred}));
      ExpectSame(Value(*metric), c.values[i], c.metric);
      ExpectSame(GlobalValue(*metric), c.values[i], c.metric);
    }
  }
}

TEST(MetricTest, KeepsLocalAndGlobalSums) {
  for (const Case& c : Cases()) {
    const auto metric = Make(c.metric, c.kwargs);
    const auto once = Make(c.metric, c.kwargs);
    COOPER_ASSERT_OK(metric->Update({c.batches[0].label}, {c.batches[0].pred}));
    metric->ResetLocal();
    EXPECT_TRUE(std::isnan(Value(*metric)));
    ExpectSame(GlobalValue(*metric), c.values[0], c.metric);
    const Batch& last = c.batches.back();
    COOPER_ASSERT_OK(metric->Update({last.label}, {last.pred}));
    COOPER_ASSERT_OK(once->Update({last.label}, {last.pred}));
    ExpectSame(Value(*metric), Value(*once), c.metric);
    metric->Reset();
    EXPECT_TRUE(std::isnan(GlobalValue(*metric)));
  }
}

TEST(MetricTest, GoesOnFromASavedState) {
  for (const Case& c : Cases()) {
    const auto first = Make(c.metric, c.kwargs);
    COOPER_ASSERT_OK(first->Update({c.batches[0].label}, {c.batches[0].pred}));
    const auto second = Make(c.metric, c.kwargs);
    COOPER_ASSERT_OK(second->LoadState(first->SaveState()));
    for (size_t i = 1; i < c.batches.size(); ++i) {
      COOPER_ASSERT_OK(second->Update({c.batches[i].label}, {c.batches[i].pred}));
    }
    ExpectSame(Value(*second), c.values.back(), c.metric);
  }
  EXPECT_THAT(Make("mae")->LoadState(Make("mse")->SaveState()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'mse', expected 'mae'")));
}

TEST(MetricTest, RefusesStatesOfOtherTotals) {
  struct StateCase {
    const char* metric;
    Kwargs kwargs;
    const char* totals;
  };
  const StateCase kCases[] = {
      // metric       kwargs                  totals
      {"mae", {}, "1"},
      {"mae", {}, "1,2,3"},
      {"acc", {}, "1"},
      {"acc", {}, "1,2,3,4"},
      {"f1", {{"average", "macro"}}, "1,2,3,4"},
      {"f1", {{"average", "micro"}}, "1,2"},
      {"mcc", {{"average", "micro"}}, "1,2,3"},
      {"pcc", {}, "1,2,3"},
      {"pcc", {}, "1,2,3,4,5"},
      {"pearsonr", {{"average", "macro"}}, "1,2,3,4,5,6"},
      {"pearsonr", {{"average", "micro"}}, "1,2"},
      {"loss", {}, "1"},
  };
  for (const StateCase& c : kCases) {
    SCOPED_TRACE(absl::StrCat(c.metric, " ", c.totals));
    const auto metric = Make(c.metric, c.kwargs);
    const std::string before = metric->SaveState();
    for (const auto& [local, global] : {std::pair(c.totals, ""), std::pair("", c.totals)}) {
      EXPECT_THAT(metric->LoadState(absl::StrCat("name ", metric->GetNameValue()[0].first,
                                                 "\nlocal ", local, "\nglobal ", global, "\n")),
                  StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("totals")));
      EXPECT_EQ(metric->SaveState(), before);
    }
  }
}

TEST(MetricTest, SavedCountsOutOfRangeAreAnyNumbers) {
  const auto metric = Make("acc");
  COOPER_ASSERT_OK(metric->LoadState("name accuracy\nlocal \nglobal 1,2,nan\n"));
  EXPECT_LE(metric->labels_out_of_range(), 0);
  COOPER_ASSERT_OK(metric->LoadState("name accuracy\nlocal \nglobal 1,2,1e300\n"));
  EXPECT_GT(metric->labels_out_of_range(), 0);
}

TEST(MetricTest, TakesAnyDType) {
  const auto metric = Make("acc");
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray label, Array({2}, {1, 0}).AsType(DType::kInt32));
  COOPER_ASSERT_OK_AND_ASSIGN(const NDArray pred,
                              Array({2, 2}, {0, 1, 0, 1}).AsType(DType::kFloat16));
  COOPER_ASSERT_OK(metric->Update({label}, {pred}));
  EXPECT_EQ(Value(*metric), 0.5);
}

// Floats know no odd number above 2^24, and no difference of 1e-10 at 0.5.
TEST(MetricTest, PredictionsAreNotRounded) {
  constexpr int64_t kId = (int64_t{1} << 24) + 1;
  const NDArray label = *NDArray::FromVector<int64_t>({2}, {kId, kId});
  const NDArray ids = *NDArray::FromVector<int64_t>({2}, {kId, kId - 1});
  const auto accuracy = Make("acc");
  COOPER_ASSERT_OK(accuracy->Update({label}, {ids}));
  EXPECT_EQ(Value(*accuracy), 0.5);
  for (const char* name : {"acc", "f1", "mcc"}) {
    const auto metric = Make(name);
    const NDArray labels = *NDArray::FromVector<int64_t>({2}, {1, 0});
    const NDArray both = *NDArray::FromVector<double>({2, 2}, {0.5, 0.5 + 1e-10, 0.5 + 1e-10, 0.5});
    COOPER_ASSERT_OK(metric->Update({labels}, {both}));
    EXPECT_EQ(Value(*metric), 1) << name;
  }
  const auto third = Make("top_k_acc", {{"top_k", "2"}});
  const NDArray three = *NDArray::FromVector<double>({1, 3}, {0.5, 0.5 + 1e-10, 0.5 + 1e-10});
  COOPER_ASSERT_OK(third->Update({*NDArray::FromVector<int64_t>({1}, {0})}, {three}));
  EXPECT_EQ(Value(*third), 0);
}

TEST(MetricTest, SelectsArraysByName) {
  const auto metric = Make("mae", {{"output_names", "(b_output,)"}, {"label_names", "(b_label,)"}});
  const NamedArrayList labels = {{"a_label", Array({1}, {0})}, {"b_label", Array({1}, {1})}};
  const NamedArrayList preds = {{"a_output", Array({1}, {9})}, {"b_output", Array({1}, {3})}};
  COOPER_ASSERT_OK(metric->UpdateDict(labels, preds));
  EXPECT_EQ(Value(*metric), 2);
  EXPECT_THAT(metric->UpdateDict({labels[0]}, preds),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no label 'b_label'")));
  const auto all = Make("mae");
  COOPER_ASSERT_OK(all->UpdateDict(labels, preds));
  EXPECT_EQ(Value(*all), (9 + 2) / 2.0);
}

TEST(MetricTest, NamesShapesThatDoNotFit) {
  const NDArray three = Array({3}, {0, 1, 1});
  const NDArray pred = Array({2, 2}, {1, 2, 3, 4});
  for (const char* name : {"acc", "ce", "perplexity", "f1", "pcc", "mae", "pearsonr"}) {
    const auto metric = Make(name);
    EXPECT_THAT(metric->Update({three}, {pred}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("label is (3,) float32 cpu(0), prediction (2, 2)")))
        << name;
    EXPECT_THAT(metric->Update({three, three}, {pred}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("2 labels but 1")));
    EXPECT_TRUE(std::isnan(Value(*metric)));
  }
  EXPECT_THAT(Make("f1")->Update({three}, {Array({3, 2}, {1, 2, 3, 4, 5, 6})}), IsOk());
  EXPECT_THAT(Make("f1")->Update({Array({3}, {0, 1, 2})}, {Array({3, 2}, {1, 2, 3, 4, 5, 6})}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("expected two classes")));
}

TEST(MetricTest, BatchesWithoutElementsAddNothing) {
  const Batch classes = {Array({2}, {1, 0}), Array({2, 2}, {.1f, .9f, .8f, .2f})};
  const Batch numbers = {Array({2}, {1, 2}), Array({2}, {2, 5})};
  const struct {
    const char* metric;
    Kwargs kwargs;
    Shape label, pred;  // of the empty batch
    Batch batch;
  } kCases[] = {
      {"acc", {}, {0}, {0, 2}, classes},
      {"top_k_accuracy", {{"top_k", "2"}}, {0}, {0, 2}, classes},
      {"ce", {}, {0}, {0, 2}, classes},
      {"perplexity", {}, {0}, {0, 2}, classes},
      {"f1", {}, {0}, {0, 2}, classes},
      {"f1", {{"average", "micro"}}, {0}, {0, 2}, classes},
      {"mcc", {}, {0}, {0, 2}, classes},
      {"mcc", {{"average", "micro"}}, {0, 3}, {0, 2}, classes},
      {"pcc", {}, {0}, {0, 2}, classes},
      {"pcc", {}, {0}, {0}, classes},
      {"mae", {}, {0}, {0}, numbers},
      {"mae", {}, {0}, {0, 1}, numbers},
      {"mae", {}, {0, 1}, {0, 3}, numbers},
      {"mae", {}, {2, 0}, {2, 0}, numbers},
      {"mse", {}, {0}, {0}, numbers},
      {"rmse", {}, {0, 3}, {0, 3}, numbers},
      {"pearsonr", {}, {0}, {0}, numbers},
      {"pearsonr", {{"average", "micro"}}, {2, 0}, {2, 0}, numbers},
      {"loss", {}, {0}, {0}, numbers},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(absl::StrCat(c.metric, " ", c.label.ToString(), " ", c.pred.ToString()));
    const NDArray label = *NDArray::Zeros(c.label), pred = *NDArray::Zeros(c.pred);
    const auto metric = Make(c.metric, c.kwargs);
    COOPER_ASSERT_OK(metric->Update({label}, {pred}));
    COOPER_ASSERT_OK(metric->Update({label}, {pred}, {label}));
    EXPECT_TRUE(std::isnan(Value(*metric))) << Value(*metric);
    COOPER_ASSERT_OK(metric->Update({c.batch.label}, {c.batch.pred}));
    COOPER_ASSERT_OK(metric->Update({label}, {pred}));
    const auto expected = Make(c.metric, c.kwargs);
    COOPER_ASSERT_OK(expected->Update({c.batch.label}, {c.batch.pred}));
    EXPECT_EQ(metric->SaveState(), expected->SaveState());
  }
}

// Shapes are compared even if the arrays have no elements.
TEST(MetricTest, NamesShapesWithoutElementsThatDoNotFit) {
  const struct {
    const char* metric;
    Shape label, pred;
    const char* error;
  } kCases[] = {
      {"mae", {0}, {2}, "expected the same number of rows"},
      {"mae", {0, 2}, {0, 3}, "expected the same number of columns"},
      {"mae", {2, 0}, {2, 3}, "expected the same number of columns"},
      {"pearsonr", {0}, {0, 1}, "expected one shape"},
      {"f1", {0}, {0}, "expected predictions (batch_size, classes)"},
      {"pcc", {0}, {0, 0}, "expected predictions (batch_size, classes)"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(Make(c.metric)->Update({*NDArray::Zeros(c.label)}, {*NDArray::Zeros(c.pred)}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.error)))
        << c.metric << " " << c.label.ToString() << " " << c.pred.ToString();
  }
}

// A confusion matrix has a row for each id up to the largest.
TEST(MetricTest, ClassIdsBeyondAnyMatrixAreRefused) {
  for (const float id : {std::numeric_limits<float>::infinity(), 1e7F, -1.0F}) {
    for (const bool in_label : {true, false}) {
      const NDArray ids = Array({2}, {0, id}), zeros = Array({2}, {0, 0});
      EXPECT_THAT(Make("pcc")->Update({in_label ? ids : zeros}, {in_label ? zeros : ids}),
                  StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("class ids")));
    }
  }
}

struct IgnoreCase {
  const char* metric;
  Kwargs kwargs;
  Batch batch;              // some labels are -1
  std::vector<float> mask;  // 0 where they are
  Batch kept;               // the batch without these
};

std::vector<IgnoreCase> IgnoreCases() {
  const NDArray ids = Array({5}, {0, -1, 1, -1, 1});
  const std::vector<float> mask = {1, 0, 1, 0, 2};
  const Batch classes = {ids, Array({5, 3}, {.7f, .2f, .1f, .1f, .1f, .8f, .3f, .3f, .4f,  //
                                             .9f, .1f, .0f, .1f, .8f, .1f})};
  const Batch kept_classes = {Array({3}, {0, 1, 1}),
                              Array({3, 3}, {.7f, .2f, .1f, .3f, .3f, .4f, .1f, .8f, .1f})};
  // Classes in the middle: labels (2, 2), predictions (2, 2, 2).
  const Batch middle = {Array({2, 2}, {0, -1, 1, 1}),
                        Array({2, 2, 2}, {.9f, .2f, .1f, .8f, .7f, .4f, .3f, .6f})};
  const Batch kept_middle = {Array({3}, {0, 1, 1}), Array({3, 2}, {.9f, .1f, .7f, .3f, .4f, .6f})};
  const Batch numbers = {Array({5}, {1, -1, 2, -1, 4}), Array({5}, {2, 9, 4, 8, 5})};
  const Batch kept_numbers = {Array({3}, {1, 2, 4}), Array({3}, {2, 4, 5})};
  const Batch column = {Array({2, 1}, {-1, 2}), Array({2, 2}, {9, 9, 3, 5})};
  const Batch kept_column = {Array({1, 1}, {2}), Array({1, 2}, {3, 5})};
  const Batch table = {Array({2, 2}, {1, -1, 2, 4}), Array({2, 2}, {2, 9, 4, 5})};
  const std::vector<float> table_mask = {1, 0, 1, 1};
  return {
      {"acc", {}, classes, mask, kept_classes},
      {"acc", {}, middle, table_mask, kept_middle},
      {"acc",
       {},
       {ids, Array({5}, {0, -1, 0, 1, 1})},
       mask,
       {Array({3}, {0, 1, 1}), Array({3}, {0, 0, 1})}},
      {"top_k_accuracy", {{"top_k", "2"}}, classes, mask, kept_classes},
      {"ce", {}, classes, mask, kept_classes},
      {"nll_loss", {}, classes, mask, kept_classes},
      {"perplexity", {}, classes, mask, kept_classes},
      {"f1", {}, classes, mask, kept_classes},
      {"f1", {{"average", "micro"}}, classes, mask, kept_classes},
      {"mcc", {}, classes, mask, kept_classes},
      {"mcc", {{"average", "micro"}}, classes, mask, kept_classes},
      {"pcc", {}, classes, mask, kept_classes},
      {"mae", {}, numbers, mask, kept_numbers},
      {"mae", {}, column, {0, 1}, kept_column},
      {"mae", {}, table, table_mask, kept_numbers},
      {"mse", {}, numbers, mask, kept_numbers},
      {"rmse", {}, numbers, mask, kept_numbers},
      {"rmse", {}, table, table_mask, kept_numbers},
      {"pearsonr", {}, numbers, mask, kept_numbers},
      {"pearsonr", {{"average", "micro"}}, table, table_mask, kept_numbers},
      {"composite", {{"metrics", "(mae, rmse)"}}, numbers, mask, kept_numbers},
  };
}

TEST(MetricTest, WhatIsIgnoredOrMaskedMightAsWellNotBeThere) {
  for (const IgnoreCase& c : IgnoreCases()) {
    SCOPED_TRACE(testing::Message() << c.metric << " " << c.batch.label.ToString());
    const NDArray mask = Array(c.batch.label.shape(), c.mask);
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray no_mask, NDArray::Zeros(mask.shape()));
    COOPER_ASSERT_OK_AND_ASSIGN(const NDArray all, NDArray::Full(mask.shape(), -1));
    const auto expected = Make(c.metric, c.kwargs);
    const auto masked = Make(c.metric, c.kwargs);
    Kwargs kwargs = c.kwargs;
    kwargs["ignore_label"] = "-1";
    const auto ignoring = Make(c.metric, kwargs);
    // A batch in which nothing counts adds nothing, not even to a mean over batches.
    COOPER_ASSERT_OK(masked->Update({c.batch.label}, {c.batch.pred}, {no_mask}));
    COOPER_ASSERT_OK(ignoring->Update({all}, {c.batch.pred}));
    EXPECT_TRUE(std::isnan(Value(*masked))) << Value(*masked);
    EXPECT_TRUE(std::isnan(Value(*ignoring))) << Value(*ignoring);
    for (int round = 0; round < 2; ++round) {
      COOPER_ASSERT_OK(expected->Update({c.kept.label}, {c.kept.pred}));
      COOPER_ASSERT_OK(masked->Update({c.batch.label}, {c.batch.pred}, {mask}));
      COOPER_ASSERT_OK(ignoring->Update({c.batch.label}, {c.batch.pred}));
      for (size_t k = 0; k < expected->GetNameValue().size(); ++k) {
        const double value = expected->GetNameValue()[k].second;
        EXPECT_FALSE(std::isnan(value));
        EXPECT_DOUBLE_EQ(masked->GetNameValue()[k].second, value);
        EXPECT_DOUBLE_EQ(ignoring->GetNameValue()[k].second, value);
      }
      // States do not depend on masks.
      const std::string state = masked->SaveState();
      COOPER_ASSERT_OK(masked->LoadState(state));
      EXPECT_EQ(masked->SaveState(), state);
    }
    // A null mask means no mask.
    const auto unmasked = Make(c.metric, c.kwargs);
    COOPER_ASSERT_OK(unmasked->Update({c.kept.label}, {c.kept.pred}, {NDArray()}));
    const auto plain = Make(c.metric, c.kwargs);
    COOPER_ASSERT_OK(plain->Update({c.kept.label}, {c.kept.pred}));
    EXPECT_EQ(unmasked->SaveState(), plain->SaveState());
  }
}

TEST(MetricTest, MaskAndIgnoredLabelGoTogether) {
  const auto metric = Make("mae", {{"ignore_label", "0"}});
  COOPER_ASSERT_OK(metric->Update({Array({3}, {0, 1, 2})}, {Array({3}, {9, 4, 9})},
                                  {*Array({3}, {1, 1, 0}).AsType(DType::kBool)}));
  EXPECT_EQ(Value(*metric), 3);
}

TEST(MetricTest, ALossCountsRowsByMasksOfLabels) {
  const auto loss = Make("loss");
  const NDArray pred = Array({3, 2}, {1, 2, 3, 4, 5, 6});
  const NDArray mask = Array({3, 3}, {0, 1, 0, 0, 0, 0, 1, 1, 1});
  COOPER_ASSERT_OK(loss->Update({}, {pred, Array({3}, {10, 20, 30})}, {mask}));
  EXPECT_DOUBLE_EQ(Value(*loss), (1 + 2 + 5 + 6 + 10 + 30) / 6.0);
}

TEST(MetricTest, MasksOfALossAreThoseOfItsPredictions) {
  const auto loss = Make("loss");
  const NDArray pred = Array({2, 2}, {1, 2, 3, 4});
  COOPER_ASSERT_OK(loss->Update({}, {pred, pred}, {Array({2, 2}, {1, 0, 1, 0}), NDArray()}));
  EXPECT_DOUBLE_EQ(Value(*loss), (1 + 3 + 10) / 6.0);
  EXPECT_THAT(loss->Update({}, {pred}, {Array({3}, {1, 0, 1})}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("loss: mask is (3,) float32 cpu(0), prediction (2, 2)")));
  EXPECT_THAT(CreateMetric("loss", {{"ignore_label", "0"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'ignore_label'")));
}

TEST(MetricTest, AMaskThatDoesNotFitIsNamedWithItsLabel) {
  for (const IgnoreCase& c : IgnoreCases()) {
    if (std::string(c.metric) == "composite") continue;
    const auto metric = Make(c.metric, c.kwargs);
    const NDArray seven = Array({7}, {1, 1, 1, 1, 1, 1, 1});
    EXPECT_THAT(metric->Update({c.batch.label}, {c.batch.pred}, {seven}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("mask is (7,) float32 cpu(0), label " +
                                   c.batch.label.ToString() + ": expected one shape")))
        << c.metric;
    EXPECT_THAT(metric->Update({c.batch.label}, {c.batch.pred}, {seven, seven}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("1 labels but 2 masks")));
    EXPECT_TRUE(std::isnan(Value(*metric)));
  }
}

TEST(CompositeEvalMetricTest, JoinsItsChildren) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto metric, CreateMetrics({"mae", "mse"}));
  COOPER_ASSERT_OK(metric->Update({Array({1}, {1})}, {Array({1}, {4})}));
  using ::testing::ElementsAre;
  using ::testing::Pair;
  EXPECT_THAT(metric->GetNameValue(), ElementsAre(Pair("mae", 3), Pair("mse", 9)));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto other, CreateMetrics({"mae", "mse"}));
  COOPER_ASSERT_OK(other->LoadState(metric->SaveState()));
  EXPECT_THAT(other->GetGlobalNameValue(), ElementsAre(Pair("mae", 3), Pair("mse", 9)));
  metric->ResetLocal();
  EXPECT_THAT(metric->GetGlobalNameValue(), ElementsAre(Pair("mae", 3), Pair("mse", 9)));
  EXPECT_TRUE(std::isnan(Value(*metric)));
  EXPECT_THAT(metric->LoadState(Make("mae")->SaveState()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'metrics'")));
}

TEST(CompositeEvalMetricTest, AStateThatOneChildRefusesIsLoadedByNone) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto metric, CreateMetrics({"mae", "mse"}));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto other, CreateMetrics({"mae", "rmse"}));
  COOPER_ASSERT_OK(metric->Update({Array({1}, {1})}, {Array({1}, {4})}));
  metric->ResetLocal();
  COOPER_ASSERT_OK(other->Update({Array({1}, {1})}, {Array({1}, {9})}));
  const std::string before = metric->SaveState();
  EXPECT_THAT(metric->LoadState(other->SaveState()),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'rmse', expected 'mse'")));
  EXPECT_EQ(metric->SaveState(), before);
}

// The header documents this; a caller that needs all or nothing saves the state before the update.
TEST(CompositeEvalMetricTest, ChildrenBeforeTheOneThatFailsHaveAddedTheBatch) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto metric, CreateMetrics({"mae", "pearsonr", "mse"}));
  EXPECT_THAT(metric->Update({Array({1, 1}, {1})}, {Array({1}, {4})}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("expected one shape")));
  EXPECT_EQ(metric->GetNameValue()[0].second, 3);
  EXPECT_TRUE(std::isnan(metric->GetNameValue()[2].second));
}

TEST(CompositeEvalMetricTest, NarrowsNamesForItsChildren) {
  CompositeEvalMetric metric({}, {.output_names = std::vector<std::string>{"b"}});
  metric.AddMetric(Make("mae"));
  COOPER_ASSERT_OK(metric.UpdateDict({{"l", Array({1}, {1})}},
                                     {{"a", Array({1}, {9})}, {"b", Array({1}, {2})}}));
  EXPECT_EQ(Value(metric), 1);
  EXPECT_THAT(metric.GetMetric(1), StatusIs(absl::StatusCode::kNotFound, HasSubstr("among 1")));
}

TEST(MetricTest, ANameThatTwoArraysHaveIsNotSelected) {
  const NamedArrayList labels = {{"l", Array({1}, {1})}};
  const NamedArrayList preds = {
      {"r_output", Array({1}, {9})}, {"b", Array({1}, {2})}, {"r_output", Array({1}, {3})}};
  const char* const message =
      "the name 'r_output' of a selected output is that of number 0 (1,) and number 2 (1,); give "
      "one of them another name";
  const auto metric = Make("mae", {{"output_names", "(r_output,)"}});
  EXPECT_THAT(metric->UpdateDict(labels, preds),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  CompositeEvalMetric all({}, {.output_names = std::vector<std::string>{"r_output"}});
  all.AddMetric(Make("mae"));
  EXPECT_THAT(all.UpdateDict(labels, preds),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("the name 'r_output' of a selected array is that of number 0")));
  COOPER_EXPECT_OK(Make("mae", {{"output_names", "(b,)"}})->UpdateDict(labels, preds));
}

// The labels are (2, 2), and their second row is masked.
TEST(MetricTest, ALossOfAnotherShapeThanTheLabelsTakesTheirMaskWhereItCan) {
  const NDArray label = Array({2, 2}, {0, 0, 0, 0});
  const NDArray mask = Array({2, 2}, {1, 1, 0, 0});
  const std::pair<NDArray, double> cases[] = {
      {Array({4}, {1, 2, 30, 40}), 1.5},                   // a loss for each position
      {Array({4, 2}, {1, 2, 3, 4, 50, 60, 70, 80}), 2.5},  // several
      {Array({1}, {7}), 7},                                // a mean
      {Array({3}, {1, 2, 6}), 3},                          // neither
  };
  for (const auto& [pred, value] : cases) {
    const auto loss = Make("loss");
    COOPER_ASSERT_OK(loss->Update({label}, {pred}, {mask}));
    EXPECT_EQ(Value(*loss), value) << pred.ToString();
  }
}

TEST(MetricTest, WithoutLabelsMasksAreOfTheSelectedOutputs) {
  const auto loss = Make("loss", {{"output_names", "(b,)"}});
  COOPER_ASSERT_OK(loss->UpdateDict({}, {{"a", Array({1}, {9})}, {"b", Array({2}, {1, 5})}},
                                    {{"a", NDArray()}, {"b", Array({2}, {1, 0})}}));
  EXPECT_EQ(Value(*loss), 1);
}

TEST(CustomMetricTest, CallsTheFunction) {
  const auto size = [](const NDArray& label, const NDArray& pred) {
    return SumAndCount{.sum = static_cast<double>(label.size() + pred.size())};
  };
  const auto metric = CustomMetric(size, {.common = {.name = "size"}, .allow_extra_outputs = true});
  COOPER_ASSERT_OK(metric->Update({Array({1}, {1})}, {Array({3}, {1, 2, 3}), Array({1}, {1})}));
  EXPECT_EQ(metric->GetNameValue()[0], NamedValue("size", 4));
  EXPECT_THAT(CustomMetric(size)->Update({}, {Array({1}, {1})}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("0 labels but 1")));
}

TEST(CustomMetricTest, TheFunctionGetsWhatCounts) {
  std::vector<std::string> seen;
  const auto note = [&seen](const NDArray& label, const NDArray& pred) {
    seen.push_back(label.ToString() + ", " + pred.ToString());
    double sum = 0;
    const std::vector<double> values = *pred.ToVector<double>();
    for (double value : values) sum += value;
    return SumAndCount{.sum = sum, .count = static_cast<double>(label.size())};
  };
  const auto metric = CustomMetric(note, {.allow_extra_outputs = true, .ignore_label = 0});
  const NDArray label = *Array({2, 2}, {1, 0, 2, 0}).AsType(DType::kInt32);
  COOPER_ASSERT_OK(metric->Update({label}, {Array({4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), label}));
  COOPER_ASSERT_OK(
      metric->Update({label}, {Array({2, 2}, {1, 2, 3, 4})}, {Array({2, 2}, {1, 1, 0, 0})}));
  EXPECT_THAT(seen, testing::ElementsAre("(2,) int32 cpu(0), (2, 1, 2) float32 cpu(0)",
                                         "(1,) int32 cpu(0), (1,) float32 cpu(0)"));
  EXPECT_DOUBLE_EQ(Value(*metric), (1 + 2 + 5 + 6 + 1) / 3.0);
  COOPER_ASSERT_OK(metric->Update({label}, {label}, {Array({2, 2}, {0, 1, 0, 1})}));
  EXPECT_EQ(seen.size(), 2u) << "nothing counts";
  EXPECT_THAT(metric->Update({label}, {Array({2, 1}, {1, 2})}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a row for each label")));
}

// The second of two rows is masked.
TEST(CustomMetricTest, TheFunctionGetsRowsWhereLabelAndPredictionDiffer) {
  std::string seen;
  const auto metric = CustomMetric([&seen](const NDArray& label, const NDArray& pred) {
    seen = label.shape().ToString() + " " + pred.shape().ToString();
    return SumAndCount();
  });
  const NDArray label = Array({2, 2}, {1, 2, 3, 4});
  const NDArray mask = Array({2, 2}, {1, 1, 0, 0});
  const std::pair<NDArray, std::string> cases[] = {
      {Array({2, 3}, {1, 2, 3, 4, 5, 6}), "(1, 2) (1, 3)"},
      {Array({2, 2, 1}, {1, 2, 3, 4}), "(2,) (2, 1)"},  // a row for each label
      {Array({3}, {1, 2, 3}), "(2, 2) (3,)"},           // no match: all
  };
  for (const auto& [pred, shapes] : cases) {
    COOPER_ASSERT_OK(metric->Update({label}, {pred}, {mask}));
    EXPECT_EQ(seen, shapes);
  }
  // A part of a row cannot be selected either.
  COOPER_ASSERT_OK(metric->Update({label}, {cases[0].first}, {Array({2, 2}, {1, 0, 0, 0})}));
  EXPECT_EQ(seen, "(2, 2) (2, 3)");
}

TEST(CreateMetricTest, NamesWhatIsWrong) {
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(CreateMetric("acuracy"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'acuracy', expected one of acc,")));
  EXPECT_THAT(CreateMetric("acc", {{"top_k", "2"}}), StatusIs(code, HasSubstr("'top_k'")));
  EXPECT_THAT(CreateMetric("top_k_accuracy"), StatusIs(code, HasSubstr("top_k is 1")));
  EXPECT_THAT(CreateMetric("f1", {{"average", "mean"}}), StatusIs(code, HasSubstr("'mean'")));
  EXPECT_THAT(CreateMetric("composite", {{"metrics", "(mae, x)"}}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("'x'")));
}

// Labels out of range use the nearest class, and are counted.
TEST(MetricTest, CountsLabelsOutOfRange) {
  const NDArray label = Array({5}, {0, 3, -1, std::nanf(""), 2});
  const NDArray pred = *NDArray::Full({5, 3}, 1.0 / 3);
  for (const char* name : {"acc", "perplexity", "ce", "nll_loss"}) {
    SCOPED_TRACE(name);
    const auto metric = Make(name);
    EXPECT_EQ(metric->labels_out_of_range(), 0);
    COOPER_ASSERT_OK(metric->Update({label}, {pred}));
    COOPER_ASSERT_OK(metric->Update({label}, {pred}));
    EXPECT_EQ(metric->labels_out_of_range(), 6);
    const auto restored = Make(name);
    COOPER_ASSERT_OK(restored->LoadState(metric->SaveState()));
    EXPECT_EQ(restored->labels_out_of_range(), 6);
    metric->ResetLocal();
    EXPECT_EQ(metric->labels_out_of_range(), 6);
    metric->Reset();
    EXPECT_EQ(metric->labels_out_of_range(), 0);
    // Label probabilities do not have the number of classes.
    if (!metric->takes_label_probabilities()) continue;
    COOPER_ASSERT_OK(metric->Update({label}, {*NDArray::Full({5, 1}, 0.5)}));
    EXPECT_EQ(metric->labels_out_of_range(), 0);
  }
  const auto top = Make("top_k_acc", {{"top_k", "2"}});
  COOPER_ASSERT_OK(top->Update({label}, {pred}));
  EXPECT_EQ(top->labels_out_of_range(), 3);
  const auto ignoring = Make("perplexity", {{"ignore_label", "-1"}});
  COOPER_ASSERT_OK(ignoring->Update({label}, {pred}));
  EXPECT_EQ(ignoring->labels_out_of_range(), 2);
  CompositeEvalMetric both;
  both.AddMetric(Make("acc"));
  both.AddMetric(Make("ce"));
  COOPER_ASSERT_OK(both.Update({label}, {pred}));
  EXPECT_EQ(both.labels_out_of_range(), 3);
  // The third total of other metrics has another meaning.
  const auto f1 = Make("f1");
  COOPER_ASSERT_OK(f1->Update({Array({2}, {1, 0})}, {*NDArray::Full({2, 2}, 0.5)}));
  EXPECT_EQ(f1->labels_out_of_range(), 0);
}

}  // namespace
}  // namespace cooper
