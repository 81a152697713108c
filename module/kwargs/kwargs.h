#ifndef COOPER_MODULE_KWARGS_KWARGS_H_
#define COOPER_MODULE_KWARGS_KWARGS_H_

// What Python passes by keyword, as texts: how optimizers, schedulers, metrics and initializers are
// made by name from a command line, a configuration file or an attribute of a symbol.

#include <map>
#include <string>

namespace cooper {

// Values as Python prints them: "0.1", "True", "(2, 4)", "None". {{"momentum", "0.9"}}
using Kwargs = std::map<std::string, std::string>;

}  // namespace cooper

#endif  // COOPER_MODULE_KWARGS_KWARGS_H_
