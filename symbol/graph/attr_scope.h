#ifndef COOPER_SYMBOL_GRAPH_ATTR_SCOPE_H_
#define COOPER_SYMBOL_GRAPH_ATTR_SCOPE_H_

// Attributes for every symbol that is created while a scope is alive on this thread, such as the
// device group of a part of the network:
//
//   AttrScope scope(AttrMap{{"ctx_group", "dev1"}});  // stored as __ctx_group__
//
// Inner scopes override outer ones; attributes given to a symbol override both.

#include "symbol/schema/param_schema.h"

namespace cooper {

// A scope of the current thread. Scopes must be destroyed in reverse order of construction, on the
// thread that constructed them. Symbol::Create and Symbol::Variable read the attributes when they
// make a node; nodes that exist are not changed.
class AttrScope {
 public:
  // Keys without underscores are stored as __key__; a key of that form is kept.
  explicit AttrScope(const AttrMap& attrs);
  ~AttrScope();
  AttrScope(const AttrScope&) = delete;
  AttrScope& operator=(const AttrScope&) = delete;

  // Returns the attributes in force on this thread: those of all scopes merged.
  static const AttrMap& Current();

 private:
  AttrMap merged_;
  AttrScope* outer_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_GRAPH_ATTR_SCOPE_H_
