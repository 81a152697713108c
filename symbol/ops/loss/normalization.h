#ifndef COOPER_SYMBOL_OPS_LOSS_NORMALIZATION_H_
#define COOPER_SYMBOL_OPS_LOSS_NORMALIZATION_H_

// What a loss divides its gradient by.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cooper {

enum class Normalization : uint8_t {
  kNull,   // nothing
  kBatch,  // the batch size
  kValid,  // the number of elements that count, at least 1
};

inline std::vector<std::pair<std::string, Normalization>> NormalizationNames() {
  return {{"null", Normalization::kNull},
          {"batch", Normalization::kBatch},
          {"valid", Normalization::kValid}};
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_LOSS_NORMALIZATION_H_
