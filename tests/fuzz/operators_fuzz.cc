// Whole operators: binding a random network of them is refused, or forward and backward passes run.

#include <cstddef>
#include <cstdint>

#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/random_network.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 8) return 0;
  cooper::FuzzInput input(data, size);
  cooper::RandomNetwork network(input);
  if (!network.Make()) return 0;
  if (size % 4 == 0) network.CheckSaving();
  network.Run();
  return 0;
}
