#include "ndarray/threads/available_cpus.h"

#include <sched.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace cooper {
namespace {

// Creates a folder with the files of control groups, as in the kernel's file system.
class CpuQuotaTest : public testing::Test {
 protected:
  CpuQuotaTest()
      : root_(absl::StrCat(testing::TempDir(), "/",
                           testing::UnitTest::GetInstance()->current_test_info()->name())) {}

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = absl::StrCat(root_, "/", path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  const std::string root_;
};

TEST_F(CpuQuotaTest, IsNoneWithoutGroups) {
  EXPECT_EQ(CpuQuota(root_, ""), 0);
  EXPECT_EQ(CpuQuota(root_, "0::/\n"), 0);
  EXPECT_EQ(CpuQuota(root_, "no line of the kernel's"), 0);
}

TEST_F(CpuQuotaTest, ReadsVersion2) {
  Write("box/cpu.max", "150000 100000\n");
  EXPECT_EQ(CpuQuota(root_, "0::/box\n"), 1.5);
  EXPECT_EQ(CpuQuota(root_, "0::/other\n"), 0);
}

TEST_F(CpuQuotaTest, IsTheSmallestOfAGroupAndItsParents) {
  Write("a/cpu.max", "200000 100000\n");
  Write("a/b/cpu.max", "max 100000\n");
  Write("a/b/c/cpu.max", "400000 100000\n");
  EXPECT_EQ(CpuQuota(root_, "0::/a/b/c\n"), 2);
}

// In a container: the path is the host's, and is not mounted.
TEST_F(CpuQuotaTest, LooksAtTheRootOfTheMount) {
  Write("cpu.max", "50000 100000\n");
  EXPECT_EQ(CpuQuota(root_, "0::/docker/0123456789ab\n"), 0.5);
  EXPECT_EQ(CpuQuota(root_, "0::/\n"), 0.5);
}

TEST_F(CpuQuotaTest, ReadsVersion1) {
  Write("cpu,cpuacct/box/cpu.cfs_quota_us", "300000\n");
  Write("cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  Write("memory/box/cpu.cfs_quota_us", "100000\n");
  Write("memory/box/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CpuQuota(root_, "5:memory:/box\n4:cpu,cpuacct:/box\n0::/\n"), 3);
  Write("cpu/box/cpu.cfs_quota_us", "200000\n");
  Write("cpu/box/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CpuQuota(root_, "4:cpuacct,cpu:/box\n"), 2) << "as CentOS 7 names the controllers";
  Write("cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(CpuQuota(root_, "4:cpu,cpuacct:/box\n"), 0);
}

TEST(AvailableCpusTest, FollowsTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  EXPECT_GE(AvailableCpus(), 1);
  EXPECT_LE(AvailableCpus(), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(AvailableCpus(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
}

}  // namespace
}  // namespace cooper
