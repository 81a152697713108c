// Writes the seeds of a target (fuzz_seeds.h); linked into every fuzzer.

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_seeds.h"
#include "tests/fuzz/scratch_folder.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const folder = std::getenv("COOPER_FUZZ_WRITE_SEEDS");
  if (folder == nullptr) return 0;
  std::vector<cooper::FuzzSeed> seeds;
  if (CooperFuzzSeeds != nullptr) CooperFuzzSeeds(&seeds);
  for (const cooper::FuzzSeed& seed : seeds) {
    cooper::WriteUnsynced(std::string(folder) + "/" + seed.name, seed.bytes);
  }
  std::exit(0);
}
