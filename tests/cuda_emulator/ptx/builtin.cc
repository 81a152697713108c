#include "tests/cuda_emulator/ptx/builtin.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/device_printf.h"
#include "tests/cuda_emulator/ptx/lanes.h"
#include "tests/cuda_emulator/ptx/run.h"
#include "tests/cuda_emulator/ptx/warp.h"

namespace cooper::ptx {
namespace {

// Returns argument i of the call by `lane`.
uint64_t Argument(Warp& warp, const Instr& in, int lane, size_t i, size_t bytes) {
  const CallSite& site = warp.code().calls[static_cast<size_t>(in.list)];
  uint64_t value = 0;
  std::memcpy(&value, warp.local(lane) + warp.frame().local_base + site.arguments[i].offset, bytes);
  return value;
}

void SetResult(Warp& warp, const Instr& in, int lane, uint32_t value) {
  const CallSite& site = warp.code().calls[static_cast<size_t>(in.list)];
  if (site.results.empty() || site.results[0].size < sizeof(value)) return;
  std::memcpy(warp.local(lane) + warp.frame().local_base + site.results[0].offset, &value,
              sizeof(value));
}

void Vprintf(Warp& warp, const Instr& in, uint32_t mask) {
  ForLanes(mask, [&](int lane) {
    if (warp.failed()) return;
    const uint64_t format = Argument(warp, in, lane, 0, 8);
    const uint64_t arguments = Argument(warp, in, lane, 1, 8);
    std::optional<std::string> text = FormatDevicePrintf(warp, lane, format, arguments);
    if (!text) return;
    if (warp.launch().options.print) {
      warp.launch().options.print(*text);
    } else {
      std::fwrite(text->data(), 1, text->size(), stdout);
    }
    SetResult(warp, in, lane, 1);
  });
}

// Implements __assertfail(message, file, line, function, size of a character).
void AssertFail(Warp& warp, const Instr& in, uint32_t mask) {
  const int lane = std::countr_zero(mask);
  const std::string message = ReadDeviceString(warp, lane, Argument(warp, in, lane, 0, 8));
  const std::string file = ReadDeviceString(warp, lane, Argument(warp, in, lane, 1, 8));
  const uint64_t line = Argument(warp, in, lane, 2, 4);
  warp.Fail(lane, absl::StatusCode::kAborted,
            Concat("assertion failed: ", message, ", ", file, ":", line));
}

constexpr Builtin kBuiltins[] = {
    {"vprintf", &Vprintf, {8, 8, 0, 0, 0}},
    {"__assertfail", &AssertFail, {8, 8, 4, 8, 8}},
};

}  // namespace

const Builtin* FindBuiltin(std::string_view name) {
  for (const Builtin& builtin : kBuiltins) {
    if (builtin.name == name) return &builtin;
  }
  return nullptr;
}

bool HasArguments(const Builtin& builtin, const CallSite& site) {
  for (size_t i = 0; i < 5 && builtin.arguments[i] != 0; ++i) {
    if (i >= site.arguments.size() || site.arguments[i].size < builtin.arguments[i]) return false;
  }
  return true;
}

}  // namespace cooper::ptx
