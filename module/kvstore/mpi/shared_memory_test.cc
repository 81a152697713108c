#include "module/kvstore/mpi/shared_memory.h"

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

TEST(SharedMemoryTest, OneSeesWhatAnotherWrites) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto made, SharedMemory::Create(100000));
  COOPER_ASSERT_OK_AND_ASSIGN(auto opened, SharedMemory::Open(made->handle()));
  EXPECT_EQ(opened->bytes(), 100000);
  ASSERT_NE(opened->data(), made->data());
  static_cast<char*>(made->data())[99999] = 7;
  EXPECT_EQ(static_cast<char*>(opened->data())[99999], 7);
  EXPECT_EQ(static_cast<char*>(opened->data())[0], 0);
}

TEST(SharedMemoryTest, OutlivesTheOneThatMadeIt) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto made, SharedMemory::Create(10));
  COOPER_ASSERT_OK_AND_ASSIGN(auto opened, SharedMemory::Open(made->handle()));
  const std::string handle = made->handle();
  made = nullptr;
  static_cast<char*>(opened->data())[9] = 7;
  EXPECT_EQ(SharedMemory::Open(handle).status().code(), absl::StatusCode::kUnavailable);
}

TEST(SharedMemoryTest, RefusesWhatIsNotTheOneMeant) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto made, SharedMemory::Create(10));
  const std::vector<std::string> parts = absl::StrSplit(made->handle(), ' ');
  const auto other_token = SharedMemory::Open(absl::StrCat(parts[0], " ", parts[1], " 1"));
  EXPECT_EQ(other_token.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(other_token.status().message(), HasSubstr("another's"));

  int pipes[2] = {};
  ASSERT_EQ(pipe(pipes), 0);
  EXPECT_EQ(SharedMemory::Open(absl::StrCat(getpid(), " ", pipes[0], " 1")).status().code(),
            absl::StatusCode::kUnavailable);
  close(pipes[0]);
  close(pipes[1]);

  for (const char* bad : {"", "1 2", "1 2 x", "a b c", "1 2 3 4"}) {
    EXPECT_EQ(SharedMemory::Open(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(SharedMemoryTest, SaysThatThereIsNoRoom) {
  EXPECT_EQ(SharedMemory::Create(-1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(SharedMemory::Create(int64_t{1} << 62).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace cooper
