#include "ndarray/base/output_file.h"

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using testing::HasSubstr;

// Creates an empty folder and returns its path.
std::string Folder() {
  std::string folder = absl::StrCat(testing::TempDir(), "/output_file_test");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  return folder;
}

testing::Matcher<absl::Status> IsInvalid(const std::string& words) {
  return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(words));
}

TEST(OutputFileTest, NewAndOldFilesAreFineAndStayAsTheyAre) {
  const std::string folder = Folder(), path = folder + "/run.json";
  EXPECT_THAT(CheckOutputFile("--json=", ""), IsOk());
  EXPECT_THAT(CheckOutputFile("--json=", path), IsOk());
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  ASSERT_THAT(WriteFileAtomically(path, "old"), IsOk());
  EXPECT_THAT(CheckOutputFile("--json=", path), IsOk());
  EXPECT_THAT(ReadFile(path), IsOkAndHolds("old"));
}

TEST(OutputFileTest, NothingButAFileIsReplaced) {
  const std::string folder = Folder(), link = folder + "/link";
  std::filesystem::create_symlink("nowhere", link);
  EXPECT_THAT(CheckOutputFile("--json=", "/dev/null"),
              IsInvalid("--json=/dev/null: it is no regular file"));
  EXPECT_THAT(CheckOutputFile("--json=", folder), IsInvalid("it is no regular file"));
  EXPECT_THAT(CheckOutputFile("", link), IsInvalid(link + ": it is no regular file"));
}

TEST(OutputFileTest, FoldersAndNamesThatCannotBeWritten) {
  const std::string folder = Folder();
  EXPECT_THAT(CheckOutputFile("--json=", folder + "/no/file"),
              IsInvalid("/no is no folder that can be written to"));
  EXPECT_THAT(CheckOutputFile("--json=", folder + "/" + std::string(300, 'x')),
              IsInvalid("File name too long"));
  EXPECT_THAT(CheckOutputFolder("--prefix=", folder + "/no/lm"), IsInvalid("/no is no folder"));
  EXPECT_THAT(CheckOutputFolder("--prefix=", folder + "/lm"), IsOk());
  EXPECT_THAT(CheckOutputFolder("--prefix=", "lm"), IsOk());
}

}  // namespace
}  // namespace cooper
