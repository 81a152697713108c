#include "io/iterators/input_files.h"

#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

TEST(InputFilesTest, ListsFilesAndFolders) {
  const std::string root = ::testing::TempDir() + "/input_files_test";
  std::filesystem::remove_all(root);
  std::filesystem::create_directories(root + "/rows/inner");
  std::filesystem::create_directories(root + "/empty");
  for (const char* name : {"/rows/b", "/rows/a", "/rows/inner/c", "/x;y"}) {
    COOPER_ASSERT_OK(WriteFileAtomically(root + name, "1\n"));
  }
  COOPER_ASSERT_OK(WriteFileAtomically(root + "/rows/nothing", ""));
  const std::string rows = root + "/rows";
  const struct {
    std::string files;
    std::vector<std::string> paths;
  } cases[] = {
      {rows + "/a", {rows + "/a"}},
      {rows, {rows + "/a", rows + "/b"}},
      {rows + "/b;missing", {rows + "/b", "missing"}},
      {rows + ";" + rows + "/inner", {rows + "/a", rows + "/b", rows + "/inner/c"}},
      {root + "/x;y", {root + "/x;y"}},
  };
  for (const auto& test : cases) {
    EXPECT_THAT(ListInputFiles(test.files), IsOkAndHolds(test.paths)) << test.files;
  }
  EXPECT_THAT(ListInputFiles(root + "/empty"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("/empty' has no file that is not empty")));
  for (const char* files : {"", "a;", ";a"}) {
    EXPECT_THAT(ListInputFiles(files), StatusIs(absl::StatusCode::kInvalidArgument,
                                                HasSubstr("has an empty name of a file")));
  }
}

}  // namespace
}  // namespace cooper
