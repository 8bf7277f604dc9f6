#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "datasets/attribute_extraction.hpp"
#include "datasets/dataset.hpp"
#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

Dataset load_oa_mine(const std::filesystem::path& folder, std::string_view split) {
  return load_attribute_extraction("oa-mine", folder, split);
}

Dataset load_ae_110k(const std::filesystem::path& folder, std::string_view split) {
  return load_attribute_extraction("ae-110k", folder, split);
}

template <typename T>
void shuffle(std::vector<T>& items,
             Rng& rng) {  // Fisher-Yates; std::shuffle differs between libraries
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[rng.below(i)]);
}

/// All indices of `examples` in the order in which a sample takes them (see `select`).
std::vector<size_t> sampling_order(const std::vector<Example>& examples, std::uint64_t seed) {
  std::map<std::string_view, std::vector<size_t>> members;
  for (size_t i = 0; i < examples.size(); ++i) members[examples[i].category].push_back(i);

  std::vector<std::string_view> categories;
  for (auto& [category, indices] : members) {
    categories.push_back(category);
    Rng rng(derive_seed(seed, str("select category ", category)));
    shuffle(indices, rng);
  }
  Rng rng(derive_seed(seed, "select categories"));
  shuffle(categories, rng);

  std::vector<size_t> order;
  for (size_t turn = 0; order.size() < examples.size(); ++turn)
    for (const auto category : categories)
      if (turn < members[category].size()) order.push_back(members[category][turn]);
  return order;
}

}  // namespace

const std::vector<DatasetEntry>& datasets() {
  static const std::vector<DatasetEntry> kDatasets = {
      {.name = "oa-mine",
       .folders = {"oa-mine"},
       .prompt = "attributes",
       .unit = "products",
       .metrics = {"extractgpt_f1_micro", "extractgpt_f1_macro", "strict_f1_micro",
                   "strict_f1_macro"},
       .load = load_oa_mine},
      {.name = "ae-110k",
       .folders = {"ae-110k"},
       .prompt = "attributes",
       .unit = "products",
       .metrics = {"extractgpt_f1_micro", "extractgpt_f1_macro", "strict_f1_micro",
                   "strict_f1_macro"},
       .load = load_ae_110k},
  };
  return kDatasets;
}

const DatasetEntry& find_dataset(std::string_view name) {
  std::vector<std::string> names;
  for (const DatasetEntry& entry : datasets()) {
    if (entry.name == name) return entry;
    names.emplace_back(entry.name);
  }
  throw ConfigError(str("unknown dataset '", name, "'", known_names(name, names)));
}

Dataset load_dataset(const DatasetEntry& entry,
                     const std::optional<std::filesystem::path>& data_root, std::string_view split,
                     const std::filesystem::path& samples) {
  const std::filesystem::path root = data_root.value_or(samples);
  std::vector<std::string> wanted;
  for (const auto name : entry.folders) {
    const std::filesystem::path folder = root / name;
    wanted.push_back(folder.string());
    if (std::error_code ignored; !std::filesystem::is_directory(folder, ignored)) continue;
    Dataset dataset = entry.load(folder, split);
    dataset.sample = !data_root;
    return dataset;
  }
  throw ConfigError(
      str("dataset '", entry.name, "': no folder ", join(wanted, " or "),
          data_root ? "; check the data root, or leave it out for the built-in sample" : ""));
}

std::int64_t leave_out_seen(std::vector<Example>& examples, const std::vector<Example>& seen) {
  std::set<std::string_view> clusters;
  for (const Example& example : seen) clusters.insert(example.cluster);
  return static_cast<std::int64_t>(std::erase_if(
      examples, [&](const Example& example) { return clusters.contains(example.cluster); }));
}

std::vector<Example> select(const std::vector<Example>& examples, std::int64_t limit,
                            std::int64_t offset, std::uint64_t seed) {
  if (limit < 0) throw ConfigError(str("limit is ", limit, ", expected 0 (all) or more"));
  if (offset < 0) throw ConfigError(str("offset is ", offset, ", expected 0 or more"));
  const std::vector<size_t> order = sampling_order(examples, seed);
  const size_t begin = std::min(static_cast<size_t>(offset), order.size());
  const size_t left = order.size() - begin;
  const size_t count = limit == 0 ? left : std::min(static_cast<size_t>(limit), left);

  std::vector<size_t> chosen(order.begin() + static_cast<std::ptrdiff_t>(begin),
                             order.begin() + static_cast<std::ptrdiff_t>(begin + count));
  std::sort(chosen.begin(), chosen.end());
  std::vector<Example> sample;
  for (const size_t index : chosen) sample.push_back(examples[index]);
  return sample;
}

}  // namespace pardec
