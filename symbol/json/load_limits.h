#ifndef COOPER_SYMBOL_JSON_LOAD_LIMITS_H_
#define COOPER_SYMBOL_JSON_LOAD_LIMITS_H_

// Limits on the size of a symbol file and of the graph that it describes. Files are untrusted: a
// few bytes may request a node of 65,536 outputs, and a few more a thousand such nodes. A file that
// exceeds a limit is refused with kResourceExhausted, which names the limit, before memory is
// allocated.
//
// The defaults are far above any network (a stack of LSTMs unrolled over a thousand steps has some
// 100,000 nodes) and bound the memory of any file by about 2 GB. A service that loads untrusted
// files sets smaller ones; BindOptions::max_bytes limits the memory of a bound graph.

#include <cstdint>

namespace cooper {

// Limits of one file; a value equal to its limit is accepted.
struct LoadLimits {
  int64_t text_bytes = int64_t{1} << 28;  // of the file
  int64_t values = int64_t{1} << 25;      // of the JSON: texts, numbers, lists and objects
  int64_t nesting = 64;                   // of its lists and objects; graphs need 5
  int64_t name_bytes = int64_t{1} << 12;  // of one node, whose outputs are all named after it
  int64_t nodes = int64_t{1} << 20;
  int64_t outputs = int64_t{1} << 22;  // of all nodes together, including hidden ones
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_JSON_LOAD_LIMITS_H_
