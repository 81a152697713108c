#ifndef COOPER_TESTS_FUZZ_FUZZ_SEEDS_H_
#define COOPER_TESTS_FUZZ_FUZZ_SEEDS_H_

// Inputs that a target itself provides as seeds: each reaches a branch that mutations seldom reach.
// Tests replay them; a fuzzer writes them to the folder that COOPER_FUZZ_WRITE_SEEDS names, from
// which libFuzzer reads them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cooper {

struct FuzzSeed {
  std::string name;  // its purpose
  std::string bytes;
};

// Encodes decisions as the bytes from which FuzzInput (fuzz_input.h) reads them.
class SeedBytes {
 public:
  // Encodes `value` for Below(n), and for Pick, Between and OneIn, which use it.
  SeedBytes& Below(uint64_t value, uint64_t n) {
    std::string number;
    for (uint64_t most = n - 1; most > 0; most >>= 8) {
      number.insert(number.begin(), static_cast<char>(value));
      value >>= 8;
    }
    bytes_ += number;
    return *this;
  }
  // Encodes `text`, of at most `most` bytes, for Text(most).
  SeedBytes& Text(const std::string& text, size_t most) {
    Below(text.size(), most + 1);
    return Rest(text);
  }
  SeedBytes& Rest(const std::string& text) {
    bytes_ += text;
    return *this;
  }

  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace cooper

// Appends a target's seeds; optional. Like libFuzzer's entry points it is defined once per program,
// without a namespace.
extern "C" __attribute__((weak)) void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds);

#endif  // COOPER_TESTS_FUZZ_FUZZ_SEEDS_H_
