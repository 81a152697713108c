#ifndef COOPER_MODULE_INITIALIZER_INITIALIZER_REGISTRY_H_
#define COOPER_MODULE_INITIALIZER_INITIALIZER_REGISTRY_H_

// The registry of the linked kinds of initializers.

#include "module/initializer/initializer.h"
#include "module/kwargs/option_registry.h"

namespace cooper {

// Returns the registry, which lives as long as the process. Names are those of MXNet in lower case:
// "xavier", "msraprelu". Kinds are added before main runs.
inline OptionRegistry<NamePatternInitializer>& Initializers() {
  static auto* const initializers = new OptionRegistry<NamePatternInitializer>("initializer");
  return *initializers;
}

}  // namespace cooper

#endif  // COOPER_MODULE_INITIALIZER_INITIALIZER_REGISTRY_H_
