#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace pardec {

/// Numbers names from 0, in the order in which they are first used.
class NameNumbers {
 public:
  /// The number of this name; adds the name if it is new.
  std::int32_t of(std::string_view name) {
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return found->second;
    const auto number = static_cast<std::int32_t>(names_.size());
    numbers_.emplace(names_.emplace_back(name), number);
    return number;
  }
  void reserve(std::size_t names) { numbers_.reserve(names); }
  /// REQUIRES: `number` is from 0 to size() - 1.
  const std::string& name(std::int32_t number) const {
    return names_[static_cast<std::size_t>(number)];
  }
  std::int32_t size() const { return static_cast<std::int32_t>(names_.size()); }

 private:
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, std::int32_t> numbers_;  // views of names_
};

}  // namespace pardec
