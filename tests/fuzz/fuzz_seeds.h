#ifndef COOPER_TESTS_FUZZ_FUZZ_SEEDS_H_
#define COOPER_TESTS_FUZZ_FUZZ_SEEDS_H_

// Inputs that a target makes itself and begins with: each reaches a branch that changed copies of
// others seldom do. Tests replay them; a fuzzer writes them to files where
// COOPER_FUZZ_WRITE_SEEDS names a folder, for libFuzzer to read them from there.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cooper {

struct FuzzSeed {
  std::string name;  // what it is for
  std::string bytes;
};

// The bytes that FuzzInput (fuzz_input.h) reads as these decisions.
class SeedBytes {
 public:
  // What Below(n) reads as `value`; so do Pick, Between and OneIn.
  SeedBytes& Below(uint64_t value, uint64_t n) {
    std::string number;
    for (uint64_t most = n - 1; most > 0; most >>= 8) {
      number.insert(number.begin(), static_cast<char>(value));
      value >>= 8;
    }
    bytes_ += number;
    return *this;
  }
  // What Text(most) reads as `text`, which is no longer than that.
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

// Defined by targets that have such inputs: adds them. Like libFuzzer's own entry points it is one
// function a program, without a namespace.
extern "C" __attribute__((weak)) void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds);

#endif  // COOPER_TESTS_FUZZ_FUZZ_SEEDS_H_
