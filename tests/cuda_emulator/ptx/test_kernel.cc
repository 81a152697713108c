#include "tests/cuda_emulator/ptx/test_kernel.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cooper::ptx {

std::string KernelText(std::string_view body, std::string_view declarations) {
  std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n";
  text += declarations;
  text +=
      "\n.visible .entry k(.param .u64 output, .param .u64 input)\n{\n"
      ".reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<32>; .reg .f32 %f<16>;\n"
      ".reg .b64 %d<32>; .reg .f64 %g<16>;\n"
      "ld.param.u64 %d0, [output]; ld.param.u64 %d1, [input]; mov.u32 %r0, %tid.x;\n";
  text += body;
  text += "\nret;\n}\n";
  return text;
}

absl::Status TestKernel::Run() {
  absl::StatusOr<std::unique_ptr<Module>> module = Module::Parse(text_);
  if (!module.ok()) return module.status();
  std::vector<std::vector<uint64_t>> memory;
  std::vector<uint64_t> addresses;
  for (const Variable& variable : (*module)->variables()) {
    memory.emplace_back(variable.size / 8 + 1);
    addresses.push_back(reinterpret_cast<uint64_t>(memory.back().data()));
  }
  for (size_t i = 0; i < memory.size(); ++i) {
    absl::StatusOr<std::vector<uint8_t>> bytes =
        (*module)->InitialBytes(static_cast<int>(i), addresses);
    if (!bytes.ok()) return bytes.status();
    std::memcpy(memory[i].data(), bytes->data(), bytes->size());
  }
  launch.variables = addresses;
  if (!options.print) options.print = [this](std::string_view text) { printed += text; };
  const uint64_t params[2] = {reinterpret_cast<uint64_t>(output.data()),
                              reinterpret_cast<uint64_t>(input.data())};
  std::vector<uint8_t> bytes(sizeof(params));
  std::memcpy(bytes.data(), params, sizeof(params));
  const auto find = [&](uint64_t address) -> Extent {
    for (const std::vector<uint32_t>* buffer : {&output, &input}) {
      const uint64_t begin = reinterpret_cast<uint64_t>(buffer->data());
      const uint64_t end = begin + 4 * buffer->size();
      if (address >= begin && address < end) return {begin, end};
    }
    return {};
  };
  return cooper::ptx::Run(**module, "k", launch, bytes, find, options, &counters);
}

}  // namespace cooper::ptx
