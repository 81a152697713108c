#include "examples/time_series/time_series.h"

#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

TEST(TimeSeriesTest, LearnsBothTasks) {
  const SeriesData data = MakeSeries(600, 1);
  COOPER_ASSERT_OK_AND_ASSIGN(auto batches, SeriesBatches(data));
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, MakeSeriesModel(*batches));
  COOPER_ASSERT_OK(TrainSeries(*model, *batches, testing::TempDir() + "learns", 12));
  COOPER_ASSERT_OK_AND_ASSIGN(const auto scores, ScoreSeries(*model, MakeSeries(301, 2)));
  ASSERT_EQ(scores.size(), 2);
  EXPECT_LT(scores[0].second, 0.05) << scores[0].first;  // amplitudes are 0.5 to 1.5
  EXPECT_GT(scores[1].second, 0.9) << scores[1].first;
}

struct TrainedSeries {
  std::map<std::string, std::vector<float>> params;
  int batches = 0;  // of the last run
};

// Returns the result of consecutive runs, each of which except the last is stopped after the given
// number of batches.
TrainedSeries Train(const SeriesData& data, const std::string& prefix,
                    const std::vector<int>& stops) {
  TrainedSeries trained;
  for (size_t i = 0; i <= stops.size(); ++i) {
    auto batches = SeriesBatches(data).value();
    auto model = MakeSeriesModel(*batches).value();
    int count = 0;
    COOPER_EXPECT_OK(TrainSeries(
        *model, *batches, testing::TempDir() + prefix, 3,
        {[&](const BatchEndParam&) { return ++count != (i < stops.size() ? stops[i] : -1); }}));
    if (i < stops.size()) continue;
    const ModuleParams params = model->GetParams().value();
    for (const auto& [name, array] : params.args) {
      trained.params[name] = array.ToVector<float>().value();
    }
    trained.batches = count;
  }
  return trained;
}

TEST(TimeSeriesTest, EndsWithTheSameBytesAfterTwoStops) {
  const SeriesData data = MakeSeries(300, 1);
  const TrainedSeries unbroken = Train(data, "unbroken", {});
  EXPECT_EQ(unbroken.params.size(), 10);
  EXPECT_GE(unbroken.batches, 30);  // 10 or 11 an epoch
  // Stops in the middle of the first and of the third epoch.
  const TrainedSeries broken = Train(data, "broken", {7, 18});
  EXPECT_LT(broken.batches, 15);  // not from the beginning
  EXPECT_EQ(broken.params, unbroken.params);
}

}  // namespace
}  // namespace cooper
