#include "ndarray/near_names.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<absl::string_view> kKnown = {"Activation", "BatchNorm", "FullyConnected",
                                               "add_n",      "relu",      "softmax"};

TEST(NearNamesTest, SpellingAloneIsTheNearest) {
  EXPECT_THAT(NearNames("fully_connected", kKnown), ElementsAre("FullyConnected"));
  EXPECT_THAT(NearNames("BATCHNORM", kKnown), ElementsAre("BatchNorm"));
}

TEST(NearNamesTest, FindsLettersLeftOutAddedChangedAndSwapped) {
  for (const char* name : {"sofmax", "softmaxx", "softmux", "sotfmax"}) {
    EXPECT_THAT(NearNames(name, kKnown), ElementsAre("softmax")) << name;
  }
}

TEST(NearNamesTest, GivesTheNearestFirstAndThreeAtMost) {
  EXPECT_THAT(NearNames("abcdef", {"abcxyf", "abcdxf", "abcdeg", "abcdefg", "zzzzzz"}),
              ElementsAre("abcdxf", "abcdeg", "abcdefg"));
}

TEST(NearNamesTest, FarNamesAreNotMeant) {
  EXPECT_THAT(NearNames("Convolution", kKnown), IsEmpty());
  EXPECT_THAT(NearNames("", kKnown), IsEmpty());
  EXPECT_THAT(NearNames("x", {"y"}), IsEmpty());
  EXPECT_THAT(NearNames(std::string(100000, 'a'), kKnown), IsEmpty());
}

TEST(NearNamesTest, IsPutBehindAMessage) {
  EXPECT_EQ(DidYouMean("Relu", kKnown), "; did you mean 'relu'?");
  EXPECT_EQ(DidYouMean("abcd", std::vector<std::string>{"abce", "abcf"}),
            "; did you mean 'abce' or 'abcf'?");
  EXPECT_EQ(DidYouMean("Convolution", kKnown), "");
}

}  // namespace
}  // namespace cooper
