#ifndef COOPER_MODULE_KWARGS_KWARGS_H_
#define COOPER_MODULE_KWARGS_KWARGS_H_

// Keyword arguments, with which optimizers, schedules, metrics and initializers are created by
// name: from a program, a command line, a configuration file or an attribute of a symbol.

#include "symbol/schema/attr_values.h"

namespace cooper {

// Values by name: numbers, bools, and texts in Python's notation ("(2, 4)", "None"):
// {{"learning_rate", 0.1}, {"momentum", "0.9"}, {"lazy_update", false}}.
using Kwargs = AttrValues;

}  // namespace cooper

#endif  // COOPER_MODULE_KWARGS_KWARGS_H_
