#include "tests/cuda_emulator/nccl/nccl.h"

#include <cstdlib>
#include <vector>

#include "cuda_runtime_api.h"
#include "gtest/gtest.h"

namespace cooper::cuda_emulator {
namespace {

[[maybe_unused]] const int kTwoDevices =
    setenv("COOPER_CUDA_EMULATOR_DEVICES", "2", /*overwrite=*/0);

struct UniqueId {
  char internal[128];
};

template <typename... Args>
int Call(const char* name, Args... args) {
  return reinterpret_cast<int (*)(Args...)>(FindNcclFunction(name))(args...);
}

// Makes a set of `size` ranks, two of which belong to this process, one on each of two devices.
std::vector<void*> TwoRanks(int size) {
  UniqueId id;
  EXPECT_EQ(Call("ncclGetUniqueId", &id), 0);
  std::vector<void*> ranks(2);
  EXPECT_EQ(Call("ncclGroupStart"), 0);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(cudaSetDevice(i), cudaSuccess);
    EXPECT_EQ(Call("ncclCommInitRank", &ranks[i], size, id, i), 0);
  }
  EXPECT_EQ(Call("ncclGroupEnd") == 0, size == 2);
  return ranks;
}

void EndAsOne(const char* call, const std::vector<void*>& ranks) {
  Call("ncclGroupStart");
  for (void* rank : ranks) EXPECT_EQ(Call(call, rank), 0);
  EXPECT_EQ(Call("ncclGroupEnd"), 0);
}

TEST(NcclDeathTest, DestroyWaitsForTheOtherRanks) {
  EXPECT_DEATH(Call("ncclCommDestroy", TwoRanks(2)[0]), "ncclCommDestroy of 1 of 2 ranks");
  EXPECT_DEATH(EndAsOne("ncclCommDestroy", TwoRanks(3)), "ncclCommDestroy of 2 of 3 ranks");
}

TEST(NcclTest, DestroysAllRanksAsOne) { EndAsOne("ncclCommDestroy", TwoRanks(2)); }

TEST(NcclTest, AbortWaitsForNobody) {
  for (void* rank : TwoRanks(2)) EXPECT_EQ(Call("ncclCommAbort", rank), 0);
  EndAsOne("ncclCommAbort", TwoRanks(3));
}

}  // namespace
}  // namespace cooper::cuda_emulator
