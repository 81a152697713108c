#ifndef COOPER_SYMBOL_GRAPH_NAME_MANAGER_H_
#define COOPER_SYMBOL_GRAPH_NAME_MANAGER_H_

// Gives names to symbols that were made without one, as MXNet does: "fullyconnected0",
// "fullyconnected1". A manager counts from the moment it is made; the innermost one that is alive
// on a thread is in force there.

#include <map>
#include <string>

namespace cooper {

// A scope: names made while it is the innermost on this thread come from it.
class NameManager {
 public:
  // `prefix` is put before every automatic and given name (MXNet's mx.name.Prefix).
  explicit NameManager(std::string prefix = "");
  ~NameManager();
  NameManager(const NameManager&) = delete;
  NameManager& operator=(const NameManager&) = delete;

  // `name` if it is not empty, else the next automatic one of `hint`.
  std::string Get(const std::string& name, const std::string& hint);

  // The innermost scope of this thread, or the thread's own.
  static NameManager& Current();

 private:
  std::string prefix_;
  std::map<std::string, int> counts_;
  NameManager* outer_;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_GRAPH_NAME_MANAGER_H_
