#ifndef COOPER_SYMBOL_GRAPH_HIDDEN_ATTRS_H_
#define COOPER_SYMBOL_GRAPH_HIDDEN_ATTRS_H_

// Hidden attributes: attributes of a node that are not parameters of its operator, such as
// "__lr_mult__". MXNet accepts five of them without the underscores too (kHiddenKeys in
// src/c_api/c_api_symbolic.cc) and stores them with underscores.

#include <string>

namespace cooper {

// The hidden attributes that MXNet accepts without underscores.
inline constexpr const char* kHiddenKeys[] = {"ctx_group", "lr_mult", "wd_mult", "force_mirroring",
                                              "mirror_stage"};

// Returns the key under which an attribute is stored: "lr_mult" -> "__lr_mult__"; other keys
// unchanged.
std::string StoredKey(const std::string& key);

}  // namespace cooper

#endif  // COOPER_SYMBOL_GRAPH_HIDDEN_ATTRS_H_
