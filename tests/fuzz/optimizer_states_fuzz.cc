// Fuzzes optimizer states of MXNet: a parsed file can be converted for optimizers with any number
// of arrays, and what was converted can be loaded.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "module/optimizer/adam.h"
#include "module/optimizer/convert_states.h"
#include "module/optimizer/sgd.h"
#include "module/optimizer/updater.h"
#include "module/pickle/mxnet_states.h"

namespace cooper {
namespace {

// Returns weights whose shapes are those of the golden files.
ArrayMap Weights() {
  return {{"z_weight", *NDArray::Zeros({4, 3})},
          {"z_bias", *NDArray::Zeros({4})},
          {"a_weight", *NDArray::Zeros({1, 4})},
          {"a_bias", *NDArray::Zeros({1})}};
}

void Load(const MxnetStates& states, std::shared_ptr<Optimizer> optimizer) {
  const MxnetPositions positions = {.module = {"z_weight", "z_bias", "a_weight", "a_bias"},
                                    .trained = {"z_weight", "z_bias", "a_weight", "a_bias"},
                                    .trainer = {"a_bias", "a_weight", "z_bias", "z_weight"}};
  const ArrayMap weights = Weights();
  const auto converted = ConvertMxnetStates(states, *optimizer, positions, weights,
                                            [](const std::string&) { return 1; });
  if (!converted.ok()) return;
  Updater updater(std::move(optimizer));
  if (!updater.SetStates(*converted, weights).ok()) return;
  const auto saved = updater.GetStates();
  CHECK(saved.ok()) << saved.status();
  CHECK(updater.SetStates(*saved, weights).ok());
  for (const auto& [name, weight] : weights) {
    // An update may fail, of a learning rate that is not finite, for example.
    updater.Update(name, weight, weight).IgnoreError();
  }
}

void Read(absl::string_view bytes) {
  const absl::StatusOr<MxnetStates> states = ParseMxnetStates(bytes);
  if (!states.ok()) return;
  Load(*states, Sgd());
  Load(*states, Sgd({.momentum = 0.9}));
  Load(*states, Adam());
  Load(*states, Nadam());
  Load(*states, Dcasgd());
}

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cooper::Read(absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
