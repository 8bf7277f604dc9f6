#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/support/rng.hpp"

namespace pardec {

/// Makes new titles for training from given ones. Each value in a title is kept, removed, or
/// replaced with another value of its attribute. Values of attributes whose values rarely repeat
/// (brands, model names) are also replaced with invented words. The rest of a title is unchanged.
/// Thus a network learns to find and copy values, instead of memorising them.
class Recombiner {
 public:
  /// Values are taken from `examples`.
  explicit Recombiner(const std::vector<Example>& examples);

  /// A new title with the same fields. If a field's value was replaced, the new value is its only
  /// reference; if it was removed, the field has no references. Values that overlap in the title,
  /// or do not occur in it, are kept. The result has the cluster of `example`.
  Example recombine(const Example& example, Rng& rng) const;

 private:
  struct Values {
    std::vector<std::string> all;  ///< with repetitions, in file order
    std::set<std::string> distinct;
    /// Whether most values occur once, so that an invented value is equally plausible.
    bool open() const { return 2 * distinct.size() > all.size(); }
  };
  std::string replacement(const std::string& category, const std::string& attribute,
                          const std::string& value, Rng& rng) const;

  std::map<std::string, std::map<std::string, Values>> by_category_;  // category -> attribute
  std::map<std::string, std::vector<std::string>> by_attribute_;      // over all categories
};

/// `value` with new words instead of all words of more than three letters (same case pattern,
/// similar length) and new digits; everything else is unchanged. Only ASCII letters count as
/// letters.
std::string invent(const std::string& value, Rng& rng);

}  // namespace pardec
