#include "module/checkpoint/state_files.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string NewFolder(const std::string& name) {
  std::string folder = testing::TempDir() + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

void Touch(const std::string& path) { std::ofstream(path) << "x"; }

TEST(StateFilesTest, FindsThoseOfItsPrefixByPosition) {
  const std::string folder = NewFolder("state_files"), prefix = folder + "/lm";
  // Sorted as numbers, not as text: large numbers have more digits.
  for (const StatePosition& at : {StatePosition(10000, 1), {9, 123456789012}, {9, 20}, {0, 0}}) {
    Touch(StatePath(prefix, at));
  }
  for (const char* other :
       {"lm-0001.params", "lm-0001-x.state", "lm-0001--0000001.state", "lm-a-0000-00000001.state",
        "lm2-0001-00000001.state", "lm-.state", "lm-0001-00000001.state.tmp", "lm-best.state"}) {
    Touch(folder + "/" + other);
  }
  EXPECT_EQ(StatePath(prefix, {9, 20}), folder + "/lm-0009-00000020.state");
  EXPECT_THAT(
      FindStateFiles(prefix),
      IsOkAndHolds(ElementsAre(Pair(Pair(0, 0), folder + "/lm-0000-00000000.state"),
                               Pair(Pair(9, 20), folder + "/lm-0009-00000020.state"),
                               Pair(Pair(9, 123456789012), folder + "/lm-0009-123456789012.state"),
                               Pair(Pair(10000, 1), folder + "/lm-10000-00000001.state"))));
}

TEST(StateFilesTest, NoFolderHasNone) {
  EXPECT_THAT(FindStateFiles(NewFolder("empty") + "/missing/lm"), IsOkAndHolds(IsEmpty()));
}

TEST(StateFilesTest, AFolderThatCannotBeListedIsAnError) {
  const std::string file = NewFolder("not_a_folder") + "/file";
  Touch(file);
  EXPECT_THAT(FindStateFiles(file + "/lm"),
              StatusIs(absl::StatusCode::kUnknown, HasSubstr("cannot list the folder")));
}

TEST(StateFilesTest, ListsWhatCannotBeRead) {
  EXPECT_THAT(NoStateCanBeRead({{{0, 1}, "a"}, {{0, 2}, "b"}}, absl::DataLossError("it is short")),
              StatusIs(absl::StatusCode::kDataLoss,
                       AllOf(HasSubstr("none of the states 'a', 'b'"), HasSubstr("it is short"))));
  StateFiles many;
  for (int i = 0; i < 30; ++i) many.push_back({{0, i}, absl::StrCat("file", i)});
  EXPECT_THAT(NoStateCanBeRead(many, absl::DataLossError("it is short")),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("'file9', ... and 20 more can be")));
}

}  // namespace
}  // namespace cooper
