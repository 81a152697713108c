#include "symbol/schema/attr_values.h"

namespace cooper {

AttrValues::AttrValues(const AttrMap& texts) : map(texts.begin(), texts.end()) {}

AttrMap AttrValues::texts() const { return AttrMap(begin(), end()); }

}  // namespace cooper
