#include "module/options/parameter_options.h"

#include "module/initializer/initializers.h"

namespace cooper {

std::shared_ptr<const Initializer> DefaultInitializer() { return init::Uniform(0.01); }

}  // namespace cooper
