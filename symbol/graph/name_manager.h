#ifndef COOPER_SYMBOL_GRAPH_NAME_MANAGER_H_
#define COOPER_SYMBOL_GRAPH_NAME_MANAGER_H_

// Names symbols that are created without a name, as MXNet does: "fullyconnected0",
// "fullyconnected1". A manager counts from its construction; the innermost one that is alive on a
// thread names that thread's symbols.

#include <map>
#include <string>

namespace cooper {

// A scope of the current thread. Scopes must be destroyed in reverse order of construction. It
// names symbols while it is the innermost one; symbols keep their names afterwards.
class NameManager {
 public:
  // `prefix` is prepended to every automatic and every given name (MXNet's mx.name.Prefix).
  explicit NameManager(std::string prefix = "");
  ~NameManager();
  NameManager(const NameManager&) = delete;
  NameManager& operator=(const NameManager&) = delete;

  // Returns the prefix and `name`, or the next automatic name for `hint` if `name` is empty.
  std::string Get(const std::string& name, const std::string& hint);

  // Returns the innermost manager of this thread; without one, the thread's default manager.
  static NameManager& Current();

 private:
  std::string prefix_;
  std::map<std::string, int> counts_;
  NameManager* outer_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_GRAPH_NAME_MANAGER_H_
