// Fuzzes symbol files: loading ends in a symbol or an error, and a loaded symbol can be inspected,
// inferred, composed, saved and loaded again.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "ndarray/random/random.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"
#include "symbol/json/json.h"
#include "tests/fuzz/json_mutator.h"
#include "tests/fuzz/scratch_folder.h"

namespace cooper {
namespace {

// Limits such as a service would set for untrusted files.
constexpr LoadLimits kLimits = {
    .text_bytes = 1 << 20, .values = 1 << 18, .nodes = 1 << 14, .outputs = 1 << 18};

// Infers with shapes and types for some of the variables.
void Infer(const Symbol& symbol, const std::vector<std::string>& args, uint64_t seed) {
  for (uint64_t round = 0; round < 2; ++round) {
    RandomGenerator random(seed, round);
    KnownShapes shapes;
    KnownTypes types;
    for (size_t i = 0; i < args.size(); ++i) {
      if (i > 0 && random.NextBelow(2) == 0) continue;
      std::vector<int64_t> dims(random.NextBelow(5));
      for (int64_t& dim : dims) dim = static_cast<int64_t>(random.NextBelow(6)) - 1;
      shapes[args[i]] = PartialShape(dims);
      const auto type = DTypeFromCode(static_cast<int64_t>(random.NextBelow(8)));
      if (random.NextBelow(4) == 0 && type.ok()) types[args[i]] = *type;
    }
    InferShapePartial(symbol, shapes).status().IgnoreError();
    InferTypePartial(symbol, types).status().IgnoreError();
    InferShape(symbol, {}).status().IgnoreError();
  }
}

// Limits that small inputs exceed.
constexpr LoadLimits kTightLimits = {
    .text_bytes = 1200, .values = 150, .nesting = 5, .nodes = 8, .outputs = 20};

// Writes a text to a file, loads it and saves the symbol.
void LoadFile(absl::string_view text, const LoadLimits& limits) {
  const std::string path = ScratchFolder() + "/symbol.json";
  WriteUnsynced(path, std::string(text));
  const absl::StatusOr<Symbol> symbol = LoadSymbol(path, limits);
  CHECK_EQ(symbol.ok(), SymbolFromJson(text, limits).ok()) << symbol.status();
  if (symbol.ok()) CHECK(SaveSymbol(path, *symbol).ok());
}

void Load(absl::string_view text, uint64_t seed) {
  const LoadLimits& limits = text.size() % 8 == 7 ? kTightLimits : kLimits;
  if (text.size() % 32 == 1) LoadFile(text, limits);
  const absl::StatusOr<Symbol> symbol = SymbolFromJson(text, limits);
  if (!symbol.ok()) return;
  const std::vector<std::string> args = symbol->ListArguments();
  CHECK_EQ(symbol->ListOutputs().size(), symbol->outputs().size());
  symbol->AttrDict();
  symbol->GetInternals().ListOutputs();
  symbol->GetChildren().ListAttr();
  Infer(*symbol, args, seed);
  const std::string saved = SymbolToJson(*symbol);
  const absl::StatusOr<Symbol> again = SymbolFromJson(saved);
  CHECK(again.ok()) << "saved, but not loaded again: " << again.status() << "\n" << saved;
  CHECK_EQ(SymbolToJson(*again), saved) << "loaded again, it is another";
  if (args.empty()) return;
  const auto composed = symbol->Compose({{args[0], Symbol::Variable("composed")}});
  CHECK(composed.ok() || absl::StrContains(composed.status().message(), "'composed'"))
      << composed.status();
}

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint64_t seed = size;
  for (size_t i = 0; i < size; ++i) seed = seed * 31 + data[i];
  cooper::Load(absl::string_view(reinterpret_cast<const char*>(data), size), seed);
  return 0;
}

// Without a custom mutator libFuzzer's mutations are mostly invalid JSON.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  cooper::RandomGenerator random(seed);
  if (random.NextBelow(8) == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::string text(reinterpret_cast<const char*>(data), size);
  cooper::MutateJson(random, &text);
  if (text.size() > max_size) return size;
  text.copy(reinterpret_cast<char*>(data), text.size());
  return text.size();
}
