#ifndef COOPER_MODULE_PREDICT_LRU_MAP_H_
#define COOPER_MODULE_PREDICT_LRU_MAP_H_

// A map with a limited number of entries; a new one replaces the least recently used one. Not
// thread-safe.

#include <cstddef>
#include <list>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace cooper {

// Find, Insert and Erase take constant time. Values are destroyed when they are replaced or erased.
// References to values stay valid while others are found, as the list's nodes do not move.
template <typename Value>
class LruMap {
 public:
  // `capacity` is at least 1.
  explicit LruMap(size_t capacity) : capacity_(capacity) {}

  // Returns the value and marks it as used; null if there is none. Valid until the next Insert or
  // Erase.
  Value* Find(const std::string& name) {
    const auto it = places_.find(name);
    if (it == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, it->second);
    return &it->second->second;
  }
  // Does not mark the value as used.
  bool contains(const std::string& name) const { return places_.contains(name); }

  // Adds a value or replaces that of the same name. The result is valid until the next Insert or
  // Erase.
  Value* Insert(const std::string& name, Value value) {
    if (Value* old = Find(name)) {
      *old = std::move(value);
      return old;
    }
    if (entries_.size() == capacity_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(name, std::move(value));
    places_[name] = entries_.begin();
    return &entries_.front().second;
  }

  // Does nothing if there is none.
  void Erase(const std::string& name) {
    const auto it = places_.find(name);
    if (it == places_.end()) return;
    entries_.erase(it->second);
    places_.erase(it);
  }

  // The entries from the most to the least recently used.
  const std::list<std::pair<std::string, Value>>& entries() const { return entries_; }

 private:
  const size_t capacity_;
  std::list<std::pair<std::string, Value>> entries_;
  absl::flat_hash_map<std::string, typename std::list<std::pair<std::string, Value>>::iterator>
      places_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_LRU_MAP_H_
