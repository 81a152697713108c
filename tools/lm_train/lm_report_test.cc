#include "tools/lm_train/lm_report.h"

#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/page_checks.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

LmRun RunOf(int epochs, int buckets) {
  LmRun run{.arena_bytes = 12'340'000,
            .perplexity_floor = 20.5,
            .arguments = {"--train=a <text> & more", "--lr=0.005"}};
  for (int i = 0; i < epochs; ++i) {
    run.epochs.push_back({.number = i + 1,
                          .train_perplexity = 21 + 80.0 / (i + 1),
                          .valid_perplexity = 22 + 70.0 / (i + 1),
                          .batches = 50,
                          .real_tokens = 40'000 + i,
                          .padded_tokens = 50'000,
                          .seconds = 2.0 + 0.01 * i});
  }
  for (int i = 0; i < buckets; ++i) {
    run.buckets.push_back({.key = absl::StrCat(10 * (i + 1)),
                           .batches = 8 * epochs,
                           .real_tokens = 4'000 * epochs,
                           .padded_tokens = 5'000 * epochs,
                           .seconds = 0.3 * epochs,
                           .planned_bytes = 2'000'000 * (i + 1),
                           .evaluation_bytes = 500'000 * (i + 1)});
  }
  return run;
}

TEST(LmReportTest, TellsOfEpochsAndBuckets) {
  const std::string page = LmReportPage(RunOf(8, 6));
  EXPECT_THAT(page, AllOf(HasSubstr("<dt>train perplexity</dt><dd>31.00</dd>"),
                          HasSubstr("<dt>validation perplexity</dt><dd>30.75</dd>"),
                          HasSubstr("<dt>no model is below</dt><dd>20.50</dd>"),
                          HasSubstr("<dt>real tokens/s</dt><dd>13,333</dd>"),
                          HasSubstr("<dt>padding</dt><dd>20.0 %</dd>"),
                          HasSubstr("<dt>arena</dt><dd>12.34 MB</dd>")));
  EXPECT_THAT(page, HasSubstr("<title>epoch 2, training: 61</title>"));
  EXPECT_THAT(page, HasSubstr("<title>bucket 30: 20.0 %</title>"));
  EXPECT_THAT(page, HasSubstr("<tr><td>30</td><td>64</td><td>32,000</td><td>8,000</td>"
                              "<td>20.0 %</td><td>37.5</td><td>13,333</td><td>6.00 MB</td>"
                              "<td>1.50 MB</td></tr>"));
  EXPECT_THAT(
      page,
      HasSubstr("--train</span>=a &lt;text&gt; &amp; more <span class=\"flag\">--lr</span>=0.005"));
}

TEST(LmReportTest, PagesOfAnySizeHaveNoFault) {
  for (const int epochs : {0, 1, 2, 40, 300}) {
    for (const int buckets : {0, 1, 6, 60}) {
      EXPECT_THAT(PageProblems(LmReportPage(RunOf(epochs, buckets))), IsEmpty())
          << epochs << " epochs, " << buckets << " buckets";
    }
  }
}

TEST(LmReportTest, WhatIsNotThereIsLeftOut) {
  LmRun run = RunOf(3, 2);
  run.perplexity_floor.reset();
  run.epochs[1].train_perplexity = std::numeric_limits<double>::infinity();
  for (LmEpoch& epoch : run.epochs) {
    epoch.valid_perplexity.reset();
    epoch.seconds = 0;
  }
  for (LmBucket& bucket : run.buckets) bucket = {.key = bucket.key};
  const std::string page = LmReportPage(run);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("validation")), Not(HasSubstr("below")),
                          Not(HasSubstr("nan")), Not(HasSubstr("\"inf"))));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

}  // namespace
}  // namespace cooper
