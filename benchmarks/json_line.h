#ifndef COOPER_BENCHMARKS_JSON_LINE_H_
#define COOPER_BENCHMARKS_JSON_LINE_H_

#include <iostream>

#include "nlohmann/json.hpp"

namespace cooper {

// Prints a line of JSON to standard output and flushes it. Replaces bytes that are not UTF-8, which
// an error may quote from a command.
inline void PrintLine(const nlohmann::json& json) {
  std::cout << json.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace)
            << std::endl;
}

}  // namespace cooper

#endif  // COOPER_BENCHMARKS_JSON_LINE_H_
