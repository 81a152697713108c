#include "ndarray/base/atomic_file.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::vector<std::string> FilesIn(const std::string& directory) {
  std::vector<std::string> names;
  DIR* dir = opendir(directory.c_str());
  if (dir == nullptr) return names;
  while (const dirent* entry = readdir(dir)) {
    if (entry->d_name[0] != '.') names.push_back(entry->d_name);
  }
  closedir(dir);
  return names;
}

class AtomicFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = absl::StrCat(::testing::TempDir(), "/",
                              ::testing::UnitTest::GetInstance()->current_test_info()->name());
    ASSERT_EQ(mkdir(directory_.c_str(), 0777), 0) << directory_;
    path_ = directory_ + "/file";
  }

  std::string directory_;
  std::string path_;
};

TEST_F(AtomicFileTest, WritesAndReadsBytes) {
  const std::string bytes("a\0b\n\xff", 5);
  COOPER_ASSERT_OK(WriteFileAtomically(path_, bytes));
  EXPECT_THAT(ReadFile(path_), IsOkAndHolds(bytes));
  EXPECT_THAT(FilesIn(directory_), ElementsAre("file"));
}

TEST_F(AtomicFileTest, TextBeginsBehindAByteOrderMark) {
  COOPER_ASSERT_OK(WriteFileAtomically(path_, "\uFEFFa\uFEFF"));
  EXPECT_THAT(ReadTextFile(path_), IsOkAndHolds(std::string("a\uFEFF")));
  COOPER_ASSERT_OK(WriteFileAtomically(path_, "\xEF\xBB"));
  EXPECT_THAT(ReadTextFile(path_), IsOkAndHolds(std::string("\xEF\xBB")));
  EXPECT_THAT(ReadTextFile(path_, 1),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 1 bytes")));
}

TEST_F(AtomicFileTest, WhatIsNoTextIsNamed) {
  const absl::string_view files[] = {"version https://git-lfs.github.com/spec/v1\nsize 9\n",
                                     absl::string_view("\x1F\x8B\x08\0", 4)};
  const char* const messages[] = {
      "a Git LFS pointer that stands for a file of 9 bytes; fetch",
      "is not a text file: the file is compressed with gzip; unpack it"};
  for (int i = 0; i < 2; ++i) {
    COOPER_ASSERT_OK(WriteFileAtomically(path_, files[i]));
    EXPECT_THAT(ReadTextFile(path_), StatusIs(absl::StatusCode::kInvalidArgument,
                                              AllOf(HasSubstr(path_), HasSubstr(messages[i]))));
  }
}

TEST_F(AtomicFileTest, EmptyFile) {
  COOPER_ASSERT_OK(WriteFileAtomically(path_, ""));
  EXPECT_THAT(ReadFile(path_), IsOkAndHolds(std::string()));
}

TEST_F(AtomicFileTest, ReplacesAnOldFileOnlyAtCommit) {
  COOPER_ASSERT_OK(WriteFileAtomically(path_, "old and longer"));
  COOPER_ASSERT_OK_AND_ASSIGN(AtomicFile file, AtomicFile::Create(path_));
  COOPER_ASSERT_OK(file.Append("ne"));
  COOPER_ASSERT_OK(file.Append("w"));
  EXPECT_THAT(ReadFile(path_), IsOkAndHolds(std::string("old and longer")));
  COOPER_ASSERT_OK(file.Commit());
  EXPECT_THAT(ReadFile(path_), IsOkAndHolds(std::string("new")));
  EXPECT_THAT(file.Append("x"), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(path_)));
  EXPECT_THAT(file.Commit(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(path_)));
}

TEST_F(AtomicFileTest, LeavesNothingWithoutCommit) {
  COOPER_ASSERT_OK(WriteFileAtomically(path_, "old"));
  {
    COOPER_ASSERT_OK_AND_ASSIGN(AtomicFile file, AtomicFile::Create(path_));
    COOPER_ASSERT_OK(file.Append("half"));
    AtomicFile moved = std::move(file);
    EXPECT_EQ(FilesIn(directory_).size(), 2u);
  }
  EXPECT_THAT(FilesIn(directory_), ElementsAre("file"));
  EXPECT_THAT(ReadFile(path_), IsOkAndHolds(std::string("old")));
}

TEST_F(AtomicFileTest, ErrorsNamePathAndReason) {
  EXPECT_THAT(ReadFile(path_), StatusIs(absl::StatusCode::kNotFound,
                                        AllOf(HasSubstr(path_), HasSubstr("No such file"))));
  EXPECT_THAT(ReadFile(directory_), StatusIs(absl::StatusCode::kInvalidArgument,
                                             AllOf(HasSubstr(directory_), HasSubstr("directory"))));
  EXPECT_THAT(WriteFileAtomically(directory_ + "/none/file", "x"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/none/file")));
  // A directory that is not empty cannot be replaced by a file.
  COOPER_ASSERT_OK(WriteFileAtomically(path_, "x"));
  const absl::Status status = WriteFileAtomically(directory_, "x");
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.ToString(), HasSubstr(directory_));
}

TEST_F(AtomicFileTest, ReadsNoMoreThanAllowed) {
  COOPER_ASSERT_OK(WriteFileAtomically(path_, "12345"));
  EXPECT_THAT(ReadFile(path_, 5), IsOkAndHolds(std::string("12345")));
  EXPECT_THAT(ReadFile(path_, 4),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 4 bytes")));
  // A file without a size: the limit holds while it is read.
  EXPECT_THAT(ReadFile("/dev/zero", 10000),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("more than 10000 bytes")));
}

// Reads a sparse file (it takes no disk space) that is larger than the memory that the process may
// have.
TEST_F(AtomicFileTest, AFileLargerThanMemoryIsAStatus) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer ends the process where there is no memory";
#endif
  constexpr int64_t kBytes = int64_t{64} << 30;
  COOPER_ASSERT_OK(WriteFileAtomically(path_, "1"));
  ASSERT_EQ(truncate(path_.c_str(), kBytes), 0);
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit little = {.rlim_cur = rlim_t{16} << 30, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &little), 0);
  const absl::StatusOr<std::string> bytes = ReadFile(path_);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_THAT(bytes.status(), StatusIs(absl::StatusCode::kResourceExhausted,
                                       AllOf(HasSubstr(path_), HasSubstr("no memory for its"))));
}

TEST_F(AtomicFileTest, RemovesWhatKilledProcessesLeft) {
  const std::string prefix = directory_ + "/run";
  for (const char* name :
       {"/run.tmp1-2", "/run.buckets.tmp123-0", "/run-0001.params.tmp4-56",
        // Files of another prefix, of another program, and of the user.
        "/runner-symbol.json.tmp1-0", "/run-notes.tmp", "/run-a.tmp1", "/run-b.tmp-1", "/run"}) {
    std::ofstream(directory_ + name) << "half";
  }
  COOPER_ASSERT_OK_AND_ASSIGN(AtomicFile file, AtomicFile::Create(prefix + ".buckets"));
  COOPER_ASSERT_OK(file.Append("whole"));
  EXPECT_EQ(RemoveTemporaries(prefix), 3);
  EXPECT_EQ(RemoveTemporaries(prefix), 0);
  // The file that is being written stays.
  COOPER_ASSERT_OK(file.Commit());
  EXPECT_THAT(FilesIn(directory_),
              UnorderedElementsAre("runner-symbol.json.tmp1-0", "run-notes.tmp", "run-a.tmp1",
                                   "run-b.tmp-1", "run", "run.buckets"));
  EXPECT_EQ(RemoveTemporaries(directory_ + "/nothing/run"), 0);
  ASSERT_EQ(chdir(directory_.c_str()), 0);
  std::ofstream("run.tmp7-7") << "half";
  EXPECT_EQ(RemoveTemporaries("run"), 1);
}

// Commit renames the file before it releases the lock, so RemoveTemporaries never removes a file
// that is being committed.
TEST_F(AtomicFileTest, WhatIsBeingCommittedStays) {
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) RemoveTemporaries(path_);
  });
  for (int i = 0; i < 200; ++i) COOPER_EXPECT_OK(WriteFileAtomically(path_, "x"));
  done = true;
  other.join();
}

TEST_F(AtomicFileTest, WorksWithoutADirectoryInThePath) {
  ASSERT_EQ(chdir(directory_.c_str()), 0);
  COOPER_ASSERT_OK(WriteFileAtomically("plain", "x"));
  EXPECT_THAT(FilesIn(directory_), ElementsAre("plain"));
}

}  // namespace
}  // namespace cooper
