#ifndef COOPER_MODULE_KWARGS_KWARGS_H_
#define COOPER_MODULE_KWARGS_KWARGS_H_

// What Python passes by keyword: how optimizers, schedulers, metrics and initializers are made by
// name, from a program, a command line, a configuration file or an attribute of a symbol.

#include "symbol/schema/attr_values.h"

namespace cooper {

// Numbers, bools, and texts as Python prints them ("(2, 4)", "None"):
// {{"learning_rate", 0.1}, {"momentum", "0.9"}, {"lazy_update", false}}.
using Kwargs = AttrValues;

}  // namespace cooper

#endif  // COOPER_MODULE_KWARGS_KWARGS_H_
