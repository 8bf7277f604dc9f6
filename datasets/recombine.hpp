#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/support/rng.hpp"

namespace pardec {

/// Makes new product titles for training from given titles. Each value in a title is kept, removed,
/// or replaced by another value of its attribute, possibly with other digits. If an attribute's
/// values are rarely repeated (brands, model names), a value may also be replaced by invented
/// words. The rest of the title is unchanged. Thus a network learns to find and copy values, and
/// does not memorise them.
class Recombiner {
 public:
  /// `examples`: the source of values (the references of their fields).
  explicit Recombiner(const std::vector<Example>& examples);

  /// Makes an example with a new title and the same fields. The value of a field is its first
  /// reference. If the value was replaced, the new value is the field's only reference. If the
  /// value was removed, the field has no references. Values are kept if they overlap in the title,
  /// or do not occur in the title. The result has the cluster of `example`. REQUIRES: the
  /// constructor's examples have references for each category and attribute of which `example` has
  /// a reference.
  Example recombine(const Example& example, Rng& rng) const;

 private:
  struct Values {
    std::vector<std::string> all;  ///< with repetitions, in file order
    std::set<std::string> distinct;
    /// Whether more than half of the values are distinct, so that invented values are plausible.
    bool open() const { return 2 * distinct.size() > all.size(); }
  };
  std::string replacement(const std::string& category, const std::string& attribute,
                          const std::string& value, Rng& rng) const;

  std::map<std::string, std::map<std::string, Values>> by_category_;  // category -> attribute
  std::map<std::string, std::vector<std::string>> by_attribute_;      // over all categories
};

/// Replaces each word of more than three letters in `value` by an invented word of a similar
/// length, and each digit by a random digit (never 0 at the beginning of a number). An invented
/// word is in capitals if the replaced word is in capitals, and begins with a capital if the
/// replaced word does. Everything else is unchanged. Only ASCII letters count as letters.
std::string invent(const std::string& value, Rng& rng);

}  // namespace pardec
