// Runs the golden cases among the test's data on gpu(0). Cases must fail if their operator has no
// GPU kernel and is listed in without_gpu_kernel.txt or in a file of the folder of that name, or if
// these lists or expected_failures.txt name the case. All others must pass.

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/program/kernel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/cuda/require_gpu.h"
#include "tests/conformance/case_context.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/expected_failures.h"

ABSL_FLAG(std::string, cases, "tests/golden", "folder of the cases");
ABSL_FLAG(std::string, expected_failures, "tests/conformance/expected_failures.txt",
          "names of the cases that are known to fail everywhere");
ABSL_FLAG(
    std::string, without_gpu_kernel, "tests/conformance/without_gpu_kernel",
    "names of operators without a GPU kernel, and of cases that fail on a GPU alone: this file "
    "with .txt behind it, and the files in the folder of this name");

namespace cooper::conformance {
namespace {

// The lists of expected failures: cases in expected_failures.txt, and the operators of the other
// lists.
struct Lists {
  std::set<std::string> cases;
  std::set<std::string> operators;
};

absl::StatusOr<Lists> ReadLists() {
  Lists lists;
  COOPER_ASSIGN_OR_RETURN(const std::string failures,
                          ReadFile(absl::GetFlag(FLAGS_expected_failures)));
  const std::string lists_path = absl::GetFlag(FLAGS_without_gpu_kernel);
  COOPER_ASSIGN_OR_RETURN(std::string missing, ReadFile(lists_path + ".txt"));
  std::error_code no_folder;
  for (const auto& entry : std::filesystem::directory_iterator(lists_path, no_folder)) {
    COOPER_ASSIGN_OR_RETURN(const std::string more, ReadFile(entry.path().string()));
    absl::StrAppend(&missing, "\n", more);
  }
  lists.cases = ParseExpectedFailures(failures);
  for (const std::string& name : ParseExpectedFailures(missing)) {
    (absl::StrContains(name, '/') ? lists.cases : lists.operators).insert(name);
  }
  return lists;
}

TEST(GoldenCudaTest, TheListHasWhatHasNoKernel) {
  COOPER_ASSERT_OK_AND_ASSIGN(const Lists lists, ReadLists());
  for (const auto& [op, kernel] : AllKernels(DeviceType::kCpu)) {
    if (FindKernel(op, DeviceType::kGpu).ok()) continue;
    EXPECT_TRUE(lists.operators.contains(op)) << op << " has no GPU kernel: add it to a list";
  }
  for (const std::string& op : lists.operators) {
    EXPECT_FALSE(FindKernel(op, DeviceType::kGpu).ok())
        << op << " has a GPU kernel: take it off its list";
  }
}

TEST(GoldenCudaTest, CasesEndAsExpected) {
  COOPER_REQUIRE_GPU();
  COOPER_ASSERT_OK_AND_ASSIGN(Lists lists, ReadLists());
  CaseContext() = Context::Gpu(0);
  CaseFallback() = false;
  const std::vector<CaseResult> results = RunAllCases({.cases = absl::GetFlag(FLAGS_cases)});
  ASSERT_FALSE(results.empty());
  for (const CaseResult& result : results) {
    if (lists.operators.contains(OperatorWithoutKernel(result.reason))) {
      lists.cases.insert(result.name);
    }
  }
  const Judgement judgement = Judge(results, lists.cases);
  std::cout << judgement.passed << " passed, " << judgement.known << " fail as listed, "
            << judgement.quirks << " differ as they state\n";
  for (const std::string& problem : judgement.problems) ADD_FAILURE() << problem;
}

// With operators without a GPU kernel on the CPU, all cases pass.
TEST(GoldenCudaTest, CasesPassWithFallback) {
  COOPER_REQUIRE_GPU();
  COOPER_ASSERT_OK_AND_ASSIGN(const std::string failures,
                              ReadFile(absl::GetFlag(FLAGS_expected_failures)));
  CaseContext() = Context::Gpu(0);
  CaseFallback() = true;
  const Judgement judgement =
      Judge(RunAllCases({.cases = absl::GetFlag(FLAGS_cases)}), ParseExpectedFailures(failures));
  for (const std::string& problem : judgement.problems) ADD_FAILURE() << problem;
}

}  // namespace
}  // namespace cooper::conformance

int main(int argc, char** argv) {
  // Set before the first use of a device: everything but a kernel's own queue is then missing in
  // recordings.
  setenv("COOPER_DEVICE_GRAPHS", "2", /*overwrite=*/0);
  setenv("COOPER_CUDA_EMULATOR_STRICT_CAPTURE", "1", /*overwrite=*/0);
  testing::InitGoogleMock(&argc, argv);
  absl::ParseCommandLine(argc, argv);
  return RUN_ALL_TESTS();
}
