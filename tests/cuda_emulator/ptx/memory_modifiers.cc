#include "tests/cuda_emulator/ptx/memory_modifiers.h"

#include <cstddef>
#include <string_view>

#include "tests/cuda_emulator/ptx/types.h"

namespace cooper::ptx {

void TakeMemoryModifiers(Decoder& decoder, size_t address, MemoryUse& use) {
  Modifiers& mods = decoder.mods();
  const std::string_view space = mods.TakeAny({"global", "shared", "shared::cta", "local", "const",
                                               "param", "param::entry", "param::func"});
  if (space == "global") {
    use.space = Space::kGlobal;
  } else if (space.substr(0, 6) == "shared") {
    use.space = Space::kShared;
  } else if (space == "local") {
    use.space = Space::kLocal;
  } else if (space == "const") {
    use.space = Space::kConst;
  } else if (space.substr(0, 5) == "param") {
    use.space = Space::kParam;
  }
  const Operand& operand = decoder.operand(address);
  if (use.space == Space::kParam) {
    // An argument of a call, or a parameter of a device function.
    const bool is_local = operand.kind == Operand::Kind::kSymbol
                              ? operand.symbol.kind == Symbol::Kind::kLocal
                              : !decoder.function().entry;
    if (is_local) use.space = Space::kLocal;
  }
  const std::string_view order =
      mods.TakeAny({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "weak"});
  use.strong = !order.empty() && order != "weak";
  mods.TakeAny({"cta", "gpu", "sys", "cluster"});
  mods.Take("unified");
  use.streams = mods.Take("cs");
  mods.TakeHints();
}

}  // namespace cooper::ptx
