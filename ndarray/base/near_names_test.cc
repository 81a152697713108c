#include "ndarray/base/near_names.h"

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
  EXPECT_THAT(SimilarNames("fully_connected", kKnown), ElementsAre("FullyConnected"));
  EXPECT_THAT(SimilarNames("BATCHNORM", kKnown), ElementsAre("BatchNorm"));
}

TEST(NearNamesTest, FindsLettersLeftOutAddedChangedAndSwapped) {
  for (const char* name : {"sofmax", "softmaxx", "softmux", "sotfmax"}) {
    EXPECT_THAT(SimilarNames(name, kKnown), ElementsAre("softmax")) << name;
  }
}

TEST(NearNamesTest, GivesTheNearestFirstAndThreeAtMost) {
  EXPECT_THAT(SimilarNames("abcdef", {"abcxyf", "abcdxf", "abcdeg", "abcdefg", "zzzzzz"}),
              ElementsAre("abcdxf", "abcdeg", "abcdefg"));
}

TEST(NearNamesTest, FarNamesAreNotMeant) {
  EXPECT_THAT(SimilarNames("Convolution", kKnown), IsEmpty());
  EXPECT_THAT(SimilarNames("", kKnown), IsEmpty());
  EXPECT_THAT(SimilarNames("x", {"y"}), IsEmpty());
  EXPECT_THAT(SimilarNames(std::string(100000, 'a'), kKnown), IsEmpty());
}

TEST(NearNamesTest, IsPutBehindAMessage) {
  EXPECT_EQ(DidYouMean("Relu", kKnown), "; did you mean 'relu'?");
  EXPECT_EQ(DidYouMean("abcd", std::vector<std::string>{"abce", "abcf"}),
            "; did you mean 'abce' or 'abcf'?");
  EXPECT_EQ(DidYouMean("Convolution", kKnown), "");
}

TEST(NearNamesTest, ListsOfNamesAreCutAtTen) {
  std::vector<std::string> names;
  EXPECT_EQ(JoinNames(names), "");
  for (int i = 0; i < 10; ++i) names.push_back("w" + std::to_string(i));
  EXPECT_EQ(JoinNames(names), "w0, w1, w2, w3, w4, w5, w6, w7, w8, w9");
  names.resize(47, "x");
  EXPECT_EQ(JoinNames(names), "w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, ... and 37 more");
}

}  // namespace
}  // namespace cooper
