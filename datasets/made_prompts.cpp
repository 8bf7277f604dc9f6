#include "datasets/made_prompts.hpp"

#include <algorithm>
#include <set>

#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// After this many draws without a new prompt, a category counts as exhausted.
constexpr int kTries = 200;

using Texts = std::vector<std::string>;

const std::string& one_of(const Texts& texts, Rng& rng) { return texts[rng.below(texts.size())]; }

void replace(std::string& text, const std::string& mark, const std::string& by) {
  if (const size_t at = text.find(mark); at != std::string::npos) text.replace(at, mark.size(), by);
}

/// The tasks of one category.
class Category {
 public:
  Category(const Json& task, const Json& parts)
      : name_(task.at("category").get<std::string>()),
        texts_(task.at("texts").get<Texts>()),
        languages_(parts.at("languages").get<Texts>()) {
    if (task.contains("subjects"))
      subjects_ = parts.at("subjects").at(task.at("subjects").get<std::string>()).get<Texts>();
    if (const auto plain = parts.at("unstyled").get<Texts>();
        std::find(plain.begin(), plain.end(), name_) == plain.end())
      styles_ = parts.at("styles").get<Texts>();
  }

  MadePrompt draw(Rng& rng) const {
    std::string text = one_of(texts_, rng);
    if (!subjects_.empty()) replace(text, "{subject}", one_of(subjects_, rng));
    replace(text, "{language}", one_of(languages_, rng));
    for (const char* number : {"{a}", "{b}", "{c}"})
      replace(text, number, std::to_string(2 + rng.below(98)));
    if (!styles_.empty())
      if (const std::string& style = one_of(styles_, rng); !style.empty()) text += " " + style;
    return {name_, std::move(text)};
  }

 private:
  std::string name_;
  Texts texts_, subjects_, languages_, styles_;
};

}  // namespace

std::vector<MadePrompt> make_prompts(const Json& parts, std::int64_t count, std::uint64_t seed) {
  std::vector<Category> categories;
  for (const Json& task : parts.at("tasks")) categories.emplace_back(task, parts);
  Rng rng(derive_seed(seed, "made prompts"));
  std::vector<MadePrompt> made;
  std::set<std::string> seen;
  while (std::ssize(made) < count) {
    const Category& category = categories[made.size() % categories.size()];
    MadePrompt one = category.draw(rng);
    bool fresh = seen.insert(one.prompt).second;
    for (int tries = 0; !fresh && tries < kTries; ++tries) {
      one = category.draw(rng);
      fresh = seen.insert(one.prompt).second;
    }
    if (!fresh)
      throw ConfigError(str("there are only ", made.size(), " prompts before category ",
                            one.category, " repeats itself, ", count, " were wanted"));
    made.push_back(std::move(one));
  }
  return made;
}

}  // namespace pardec
