#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "src/support/rng.hpp"

namespace pardec {

/// Makes new titles to train on out of given ones: a value that stands in a title is left alone,
/// taken out, or replaced by another value of its attribute; values of attributes whose values
/// hardly repeat (brands, model names) also by words that nobody wrote. The rest of a title stays.
/// So a network learns where a value stands, and to copy it, rather than the values themselves.
class Recombiner {
 public:
  /// `examples` are what values are taken from.
  explicit Recombiner(const std::vector<Example>& examples);

  /// A new title with the same fields. Of a field whose value was replaced the new value is the
  /// only reference; one whose value was taken out has none. Values that overlap in the title, or
  /// do not stand in it, are left alone. The result's cluster is that of `example`.
  Example recombine(const Example& example, Rng& rng) const;

 private:
  struct Values {
    std::vector<std::string> all;  ///< with repetitions, in file order
    std::set<std::string> distinct;
    /// Whether most of its values occur once, so that an invented one is as good.
    bool open() const { return 2 * distinct.size() > all.size(); }
  };
  std::string replacement(const std::string& category, const std::string& attribute,
                          const std::string& value, Rng& rng) const;

  std::map<std::string, std::map<std::string, Values>> by_category_;  // category -> attribute
  std::map<std::string, std::vector<std::string>> by_attribute_;      // of all categories
};

/// `value` with every word of more than three letters made up anew (same case pattern, about the
/// same length) and every digit drawn anew; all else stays. ASCII letters alone count as letters.
std::string invent(const std::string& value, Rng& rng);

}  // namespace pardec
