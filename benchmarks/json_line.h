#ifndef COOPER_BENCHMARKS_JSON_LINE_H_
#define COOPER_BENCHMARKS_JSON_LINE_H_

#include <iostream>

#include "nlohmann/json.hpp"

namespace cooper {

// Answers a command on standard output, at once. An error may hold a command that is not UTF-8.
inline void PrintLine(const nlohmann::json& json) {
  std::cout << json.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace)
            << std::endl;
}

}  // namespace cooper

#endif  // COOPER_BENCHMARKS_JSON_LINE_H_
