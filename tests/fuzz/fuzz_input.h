#ifndef COOPER_TESTS_FUZZ_FUZZ_INPUT_H_
#define COOPER_TESTS_FUZZ_FUZZ_INPUT_H_

// Reads a fuzzer's bytes as a sequence of decisions. Once they are used up every decision is the
// first choice, so that a target ends soon.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

namespace cooper {

class FuzzInput {
 public:
  FuzzInput(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  bool empty() const { return size_ == 0; }

  // Returns a number in [0, n) from as many bytes as n takes. Requires n > 0.
  uint64_t Below(uint64_t n) {
    uint64_t value = 0;
    for (uint64_t most = n - 1; most > 0 && size_ > 0; most >>= 8) value = value << 8 | Byte();
    return value % n;
  }
  // Returns a number in [least, greatest].
  int64_t Between(int64_t least, int64_t greatest) {
    return least + static_cast<int64_t>(Below(static_cast<uint64_t>(greatest - least) + 1));
  }
  // Returns true once in n times, and false when no bytes are left.
  bool OneIn(uint64_t n) { return Below(n) == n - 1 && n > 1; }

  // Returns an element of an array or a vector that is not empty.
  template <typename Choices>
  auto Pick(const Choices& choices) {
    return *(std::begin(choices) + static_cast<std::ptrdiff_t>(Below(std::size(choices))));
  }

  // Returns at most `most` bytes.
  std::string Text(size_t most) { return Take(Below(most + 1)); }
  std::string Rest() { return Take(size_); }

 private:
  uint8_t Byte() {
    --size_;
    return *data_++;
  }
  std::string Take(size_t count) {
    if (count > size_) count = size_;
    std::string taken(reinterpret_cast<const char*>(data_), count);
    data_ += count;
    size_ -= count;
    return taken;
  }

  const uint8_t* data_;
  size_t size_;
};

}  // namespace cooper

#endif  // COOPER_TESTS_FUZZ_FUZZ_INPUT_H_
