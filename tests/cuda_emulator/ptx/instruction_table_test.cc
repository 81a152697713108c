#include "tests/cuda_emulator/ptx/instruction_table.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "tests/cuda_emulator/ptx/module.h"
#include "tests/cuda_emulator/ptx/run.h"
#include "tests/cuda_emulator/ptx/types.h"

namespace cooper::ptx {
namespace {

uint64_t CutToType(uint64_t value, const InstructionCase& c) {
  const std::string first(c.types.substr(0, c.types.find(' ')));
  const int bytes = SizeOf(*TypeOfName(first));
  return bytes >= 8 ? value : value & ((uint64_t{1} << (8 * bytes)) - 1);
}

class InstructionTest : public ::testing::TestWithParam<absl::Span<const InstructionCase> (*)()> {};

// Every lane must compute the expected bits, in a full warp and in one with missing lanes.
TEST_P(InstructionTest, GivesTheBits) {
  const absl::Span<const InstructionCase> cases = GetParam()();
  COOPER_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Module> module,
                              Module::Parse(InstructionText(cases)));
  for (size_t i = 0; i < cases.size(); ++i) {
    for (uint32_t threads : {32u, 5u}) {
      uint64_t output = 0;
      const uint64_t params[2] = {reinterpret_cast<uint64_t>(&output),
                                  reinterpret_cast<uint64_t>(cases[i].inputs)};
      std::vector<uint8_t> bytes(sizeof(params));
      std::memcpy(bytes.data(), params, sizeof(params));
      const FindExtent find = [&](uint64_t address) -> Extent {
        if (address - params[0] < 8) return {params[0], params[0] + 8};
        return {params[1], params[1] + sizeof(cases[i].inputs)};
      };
      Launch launch;
      launch.block.x = threads;
      ASSERT_THAT(cooper::ptx::Run(*module, absl::StrCat("case", i), launch, bytes, find), IsOk())
          << std::string(cases[i].instruction);
      EXPECT_EQ(absl::StrCat(absl::Hex(CutToType(output, cases[i]))),
                absl::StrCat(absl::Hex(cases[i].expected)))
          << std::string(cases[i].instruction) << " of " << std::hex << cases[i].inputs[0] << ", "
          << cases[i].inputs[1] << ", " << cases[i].inputs[2] << ", " << cases[i].inputs[3];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, InstructionTest,
                         ::testing::Values(&IntegerCases, &BitCases, &FloatCases, &HalfCases,
                                           &CompareCases, &ConvertCases));

}  // namespace
}  // namespace cooper::ptx
