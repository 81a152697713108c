#include "tests/cuda_emulator/runtime/settings.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/numbers.h"

namespace cooper::cuda_emulator {
namespace {

constexpr int kMaxDevices = 16;

uint64_t ReadVariable(const std::string& variable, uint64_t otherwise) {
  const char* text = std::getenv(variable.c_str());
  if (text == nullptr) return otherwise;
  uint64_t value = 0;
  if (absl::SimpleAtoi(text, &value)) return value;
  std::fprintf(stderr, "cuda emulator: %s=%s is ignored: expected a number\n", variable.c_str(),
               text);
  return otherwise;
}

uint64_t Read(const char* name, uint64_t otherwise) {
  return ReadVariable(std::string("COOPER_CUDA_EMULATOR_") + name, otherwise);
}

Settings ReadAll() {
  Settings settings;
  settings.devices = static_cast<int>(std::min<uint64_t>(Read("DEVICES", 1), kMaxDevices));
  settings.memory = Read("MEMORY", settings.memory);
  settings.seed = static_cast<uint32_t>(Read("SEED", 0));
  settings.race_check = Read("RACE_CHECK", 0) != 0;
  settings.unset_check = Read("UNSET_CHECK", 0) != 0;
  settings.slice = Read("SLICE", 0);
  settings.max_instructions = Read("MAX_INSTRUCTIONS", 0);
  settings.pageable_access = Read("PAGEABLE_ACCESS", 0) != 0;
  settings.strict_capture = Read("STRICT_CAPTURE", 0) != 0;
  settings.lazy = Read("LAZY", 0) != 0;
  settings.launch_blocking = ReadVariable("CUDA_LAUNCH_BLOCKING", 0) != 0;
  settings.trace = Read("TRACE", 0) != 0;
  settings.counters = Read("COUNTERS", 0) != 0;
  return settings;
}

}  // namespace

const Settings& GetSettings() {
  static const Settings settings = ReadAll();
  return settings;
}

}  // namespace cooper::cuda_emulator
