#include "tests/cuda_emulator/ptx/device_printf.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "tests/cuda_emulator/ptx/memory.h"
#include "tests/cuda_emulator/ptx/memory_resolver.h"
#include "tests/cuda_emulator/ptx/run.h"

namespace cooper::ptx {
namespace {

constexpr size_t kMaxLength = 4096;

std::optional<uint64_t> ReadArgument(Warp& warp, int lane, uint64_t address, size_t bytes) {
  MemoryUse use;
  use.bytes = use.element_bytes = static_cast<uint8_t>(bytes);
  MemoryResolver resolver(warp, use, 0);
  uint64_t addresses[kLanes] = {};
  uint8_t* pointers[kLanes];
  addresses[lane] = address;
  if (!resolver.Resolve(addresses, 0, 1u << lane, pointers)) return std::nullopt;
  uint64_t value = 0;
  std::memcpy(&value, pointers[lane], bytes);
  return value;
}

// Formats one conversion such as "%-5.2f", with `value` as its argument.
std::string FormatOne(std::string spec, char kind, uint64_t value, bool wide) {
  char text[512];
  if (kind == 'f' || kind == 'F' || kind == 'e' || kind == 'E' || kind == 'g' || kind == 'G' ||
      kind == 'a' || kind == 'A') {
    spec += kind;
    std::snprintf(text, sizeof(text), spec.c_str(), std::bit_cast<double>(value));
  } else if (kind == 'c') {
    spec += 'c';
    std::snprintf(text, sizeof(text), spec.c_str(), static_cast<int>(value));
  } else if (kind == 'p') {
    std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  } else {
    if (kind == 'd' || kind == 'i') {
      spec += "lld";
      const long long number = wide ? static_cast<long long>(value)
                                    : static_cast<long long>(static_cast<int32_t>(value));
      std::snprintf(text, sizeof(text), spec.c_str(), number);
    } else {
      spec += "ll";
      spec += kind;
      std::snprintf(text, sizeof(text), spec.c_str(), static_cast<unsigned long long>(value));
    }
  }
  return text;
}

}  // namespace

std::string ReadDeviceString(Warp& warp, int lane, uint64_t address) {
  (void)lane;
  std::string text;
  const Extent& extent = warp.launch().ExtentOf(address);
  for (uint64_t at = address; at < extent.end && text.size() < kMaxLength; ++at) {
    const char c = *reinterpret_cast<const char*>(at);
    if (c == 0) break;
    text += c;
  }
  return text;
}

std::optional<std::string> FormatDevicePrintf(Warp& warp, int lane, uint64_t format,
                                              uint64_t arguments) {
  const std::string pattern = ReadDeviceString(warp, lane, format);
  std::string out;
  uint64_t at = arguments;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      out += pattern[i];
      continue;
    }
    std::string spec = "%";
    for (++i; i < pattern.size(); ++i) {
      const char c = pattern[i];
      const bool flag = absl::ascii_isdigit(static_cast<unsigned char>(c)) || c == '-' ||
                        c == '+' || c == ' ' || c == '#' || c == '.' || c == '*';
      if (!flag) break;
      if (c != '*') {
        if (spec.size() < 20) spec += c;
        continue;
      }
      at = (at + 3) / 4 * 4;
      const std::optional<uint64_t> width = ReadArgument(warp, lane, at, 4);
      if (!width) return std::nullopt;
      spec += std::to_string(static_cast<int32_t>(*width) % 256);
      at += 4;
    }
    bool wide = false;
    for (; i < pattern.size(); ++i) {
      const char c = pattern[i];
      if (c != 'l' && c != 'h' && c != 'z' && c != 'j' && c != 't') break;
      wide = wide || c != 'h';
    }
    if (i >= pattern.size()) break;
    const char kind = pattern[i];
    if (kind == '%') {
      out += '%';
      continue;
    }
    const std::string integers = "diouxXc";
    const std::string others = "fFeEgGaAps";
    if (integers.find(kind) == std::string::npos && others.find(kind) == std::string::npos) {
      out += spec + kind;
      continue;
    }
    wide = wide || others.find(kind) != std::string::npos;
    const uint64_t bytes = wide ? 8 : 4;
    at = (at + bytes - 1) / bytes * bytes;
    const std::optional<uint64_t> value = ReadArgument(warp, lane, at, bytes);
    if (!value) return std::nullopt;
    at += bytes;
    out += kind == 's' ? ReadDeviceString(warp, lane, *value) : FormatOne(spec, kind, *value, wide);
  }
  return out;
}

}  // namespace cooper::ptx
