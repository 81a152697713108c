#include "module/kwargs/kwargs.h"

#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Options {
  double momentum = 0.5;
  bool centered = false;
  std::vector<int64_t> step;
  std::optional<double> clip = 1;

  absl::Status ReadFrom(const Kwargs& kwargs) {
    KwargReader reader("optimizer sgd", kwargs);
    reader.Read("momentum", &momentum);
    reader.Read("centered", &centered);
    reader.Read("step", &step);
    reader.Read("clip", &clip);
    return reader.Finish();
  }
};

TEST(KwargReaderTest, ReadsEveryKindAndKeepsDefaults) {
  Options options;
  COOPER_ASSERT_OK(options.ReadFrom({{"centered", "True"}, {"step", "(2, 4)"}, {"clip", "None"}}));
  EXPECT_EQ(options.momentum, 0.5);
  EXPECT_TRUE(options.centered);
  EXPECT_THAT(options.step, ElementsAre(2, 4));
  EXPECT_FALSE(options.clip.has_value());
  COOPER_ASSERT_OK(options.ReadFrom({{"momentum", "1e-3"}, {"clip", "2"}}));
  EXPECT_EQ(options.momentum, 1e-3);
  EXPECT_EQ(options.clip, 2);
}

TEST(KwargReaderTest, NamesWhatIsWrong) {
  const auto code = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(Options().ReadFrom({{"momentum", "fast"}}),
              StatusIs(code, HasSubstr("optimizer sgd: momentum is 'fast'")));
  EXPECT_THAT(Options().ReadFrom({{"momentun", "0.9"}}),
              StatusIs(code, HasSubstr("unknown argument 'momentun', expected one of momentum, "
                                       "centered, step, clip")));
  const Kwargs none;
  KwargReader reader("lr_scheduler factor", none);
  reader.Require("step");
  EXPECT_THAT(reader.Finish(), StatusIs(code, HasSubstr("lr_scheduler factor: step is missing")));
}

}  // namespace
}  // namespace cooper
