#include "tests/cuda_emulator/ptx/instruction_table.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/types.h"

namespace cooper::ptx {
namespace {

constexpr char kNames[] = {'d', 'a', 'b', 'c', 'e'};

std::vector<Type> TypesOf(std::string_view types) {
  std::vector<Type> result;
  while (!types.empty()) {
    const size_t space = types.find(' ');
    result.push_back(*TypeOfName(types.substr(0, space)));
    types = space == std::string_view::npos ? std::string_view() : types.substr(space + 1);
  }
  return result;
}

// Returns the type with which a register of that type is declared, loaded and stored.
std::string_view RegisterType(Type type) {
  if (type == Type::kPred) return "pred";
  if (type == Type::kF32 || type == Type::kF64) return NameOf(type);
  return SizeOf(type) == 8 ? "b64" : SizeOf(type) == 4 ? "b32" : "b16";
}

std::string Replaced(std::string_view instruction) {
  std::string text;
  for (char c : instruction) text += c == '$' ? std::string("%") : std::string(1, c);
  return text;
}

}  // namespace

std::string InstructionText(absl::Span<const InstructionCase> cases) {
  std::string text = ".version 9.0\n.target sm_90\n.address_size 64\n";
  for (size_t i = 0; i < cases.size(); ++i) {
    const std::vector<Type> types = TypesOf(cases[i].types);
    text += Concat(".visible .entry case", i, "(.param .u64 output, .param .u64 input)\n{\n",
                   ".reg .b64 %out, %in; .reg .b32 %word;\n");
    for (size_t k = 0; k < types.size(); ++k) {
      text += Concat(".reg .", RegisterType(types[k]), " %", std::string(1, kNames[k]), ";\n");
    }
    text += "ld.param.u64 %out, [output]; ld.param.u64 %in, [input];\n";
    for (size_t k = 1; k < types.size(); ++k) {
      const std::string name(1, kNames[k]);
      if (types[k] == Type::kPred) {
        text += Concat("ld.global.u32 %word, [%in+", 8 * (k - 1), "]; setp.ne.u32 %", name,
                       ", %word, 0;\n");
      } else {
        text += Concat("ld.global.", RegisterType(types[k]), " %", name, ", [%in+", 8 * (k - 1),
                       "];\n");
      }
    }
    text += Replaced(cases[i].instruction) + ";\n";
    if (types[0] == Type::kPred) {
      text += "selp.u32 %word, 1, 0, %d; st.global.u32 [%out], %word;\n";
    } else {
      text += Concat("st.global.", RegisterType(types[0]), " [%out], %d;\n");
    }
    text += "ret;\n}\n";
  }
  return text;
}

}  // namespace cooper::ptx
