#ifndef COOPER_SYMBOL_GRAPH_HIDDEN_ATTRS_H_
#define COOPER_SYMBOL_GRAPH_HIDDEN_ATTRS_H_

// Attributes of a node that no operator has: "__lr_mult__" for one. MXNet takes five of them
// without the underscores too (kHiddenKeys in src/c_api/c_api_symbolic.cc), and stores them with.

#include <string>

namespace cooper {

inline constexpr const char* kHiddenKeys[] = {"ctx_group", "lr_mult", "wd_mult", "force_mirroring",
                                              "mirror_stage"};

// "lr_mult" -> "__lr_mult__"; every other key as it is.
std::string StoredKey(const std::string& key);

}  // namespace cooper

#endif  // COOPER_SYMBOL_GRAPH_HIDDEN_ATTRS_H_
