// Runs a fuzz target as an ordinary test: on every file of the folders in its arguments, on the
// target's own seeds (fuzz_seeds.h), and on COOPER_FUZZ_RUNS (1,000) mutated copies and random
// inputs. COOPER_FUZZ_SEED (1) determines the mutations, so that a failure can be repeated; the
// failing input is in the test's outputs as "input".

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ndarray/random/random.h"
#include "tests/fuzz/fuzz_seeds.h"

// The entry point of libFuzzer's interface (https://llvm.org/docs/LibFuzzer.html), which a target
// defines.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                                                size_t max_size, unsigned seed);

namespace cooper {
namespace {

constexpr size_t kMaxBytes = 1 << 14;

// Mutates bytes in place, like libFuzzer, with a few operations.
void ChangeBytes(RandomGenerator& random, std::string* bytes) {
  constexpr uint64_t kEnds[] = {0,
                                1,
                                0x7f,
                                0x80,
                                0xff,
                                0x7fffffff,
                                0x80000000,
                                0xffffffff,
                                uint64_t{1} << 40,
                                ~uint64_t{0} >> 1,
                                ~uint64_t{0}};
  for (uint64_t changes = 1 + random.NextBelow(4); changes > 0; --changes) {
    const size_t at = random.NextBelow(bytes->size() + 1);
    const size_t left = bytes->size() - at;
    switch (random.NextBelow(5)) {
      case 0:
        if (left > 0) (*bytes)[at] = static_cast<char>(random.NextUint32());
        break;
      case 1:
        bytes->erase(at, 1 + random.NextBelow(16));
        break;
      case 2:
        bytes->insert(at, bytes->substr(random.NextBelow(bytes->size() + 1), random.NextBelow(64)));
        break;
      case 3:
        if (left > 0) (*bytes)[at] = static_cast<char>((*bytes)[at] ^ 1 << random.NextBelow(8));
        break;
      default: {
        const uint64_t end = kEnds[random.NextBelow(std::size(kEnds))];
        const size_t width = std::min<size_t>(size_t{1} << random.NextBelow(4), left);
        for (size_t i = 0; i < width; ++i) (*bytes)[at + i] = static_cast<char>(end >> 8 * i);
      }
    }
  }
  bytes->resize(std::min(bytes->size(), kMaxBytes));
}

std::string RandomBytes(RandomGenerator& random) {
  std::string bytes(8 + random.NextBelow(504), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.NextUint32());
  return bytes;
}

std::string Changed(RandomGenerator& random, std::string bytes) {
  if (LLVMFuzzerCustomMutator == nullptr || random.NextBelow(4) == 0) {
    ChangeBytes(random, &bytes);
    return bytes;
  }
  const size_t size = bytes.size();
  bytes.resize(kMaxBytes);
  bytes.resize(LLVMFuzzerCustomMutator(reinterpret_cast<uint8_t*>(bytes.data()),
                                       std::min(size, kMaxBytes), kMaxBytes, random.NextUint32()));
  return bytes;
}

void Run(const std::string& bytes) {
  const char* const outputs = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  if (outputs != nullptr) {
    std::ofstream(std::string(outputs) + "/input", std::ios::binary) << bytes;
  }
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

uint64_t Number(const char* variable, uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::vector<std::string> ReadSeeds(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return seeds;
}

int Main(int argc, char** argv) {
  std::vector<std::string> seeds = ReadSeeds(argc, argv);
  std::vector<FuzzSeed> own;
  if (CooperFuzzSeeds != nullptr) CooperFuzzSeeds(&own);
  for (const FuzzSeed& seed : own) seeds.push_back(seed.bytes);
  for (const std::string& seed : seeds) Run(seed);
  const uint64_t runs = Number("COOPER_FUZZ_RUNS", 1000), seed = Number("COOPER_FUZZ_SEED", 1);
  std::printf("%zu inputs, %llu changed ones of seed %llu\n", seeds.size(),
              static_cast<unsigned long long>(runs), static_cast<unsigned long long>(seed));
  for (uint64_t i = 0; i < runs; ++i) {
    RandomGenerator random(seed, i);
    if (seeds.empty() || random.NextBelow(16) == 0) {
      Run(RandomBytes(random));
    } else {
      Run(Changed(random, seeds[random.NextBelow(seeds.size())]));
    }
  }
  return 0;
}

}  // namespace
}  // namespace cooper

// The mutator that targets call from their own mutators; libFuzzer provides one too.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) {
  static auto* const random = new cooper::RandomGenerator(1, 1);
  std::string bytes(reinterpret_cast<const char*>(data), size);
  cooper::ChangeBytes(*random, &bytes);
  const size_t count = std::min(bytes.size(), max_size);
  std::copy_n(bytes.begin(), count, data);
  return count;
}

int main(int argc, char** argv) { return cooper::Main(argc, argv); }
