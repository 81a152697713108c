#ifndef COOPER_SYMBOL_GRAPH_ATTR_SCOPE_H_
#define COOPER_SYMBOL_GRAPH_ATTR_SCOPE_H_

// Attributes for every symbol made while a scope is alive on this thread, such as the group of
// devices a part of the network is meant for:
//
//   AttrScope scope(AttrMap{{"ctx_group", "dev1"}});  // stored as __ctx_group__
//
// Inner scopes win over outer ones, and attributes given to a symbol over both.

#include "symbol/schema/param_schema.h"

namespace cooper {

class AttrScope {
 public:
  // Keys are given bare and stored as __key__; a key that is already of that form is kept.
  explicit AttrScope(const AttrMap& attrs);
  ~AttrScope();
  AttrScope(const AttrScope&) = delete;
  AttrScope& operator=(const AttrScope&) = delete;

  // The attributes in force on this thread, of all scopes together.
  static const AttrMap& Current();

 private:
  AttrMap merged_;
  AttrScope* outer_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_GRAPH_ATTR_SCOPE_H_
