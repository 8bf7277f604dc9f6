#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// Generated files of the lengths that papers publish, where the published files are not at hand.
namespace pardec {

/// Ids of a product's text: the HPD paper does not say how many, so this is a choice of ours.
inline constexpr double kProductText = 250;

struct StandinSpec {
  std::vector<std::string> datasets;
  std::string data_root;  ///< gets one folder a dataset
  std::string tokenizer;  ///< as CorpusFiles'
  std::uint64_t seed = 1;
  std::int64_t examples = 0;  ///< of each; 0: as many as published

  std::string shown_tokenizer() const {
    return tokenizer.empty() ? "the quickstart tokenizer" : tokenizer;
  }
};

struct MadeStandin {
  std::string dataset;
  std::int64_t examples;
  std::filesystem::path folder;
};

/// A dataset's folder is there whole or not at all. ConfigError for a dataset that has no published
/// lengths or is there already.
std::vector<MadeStandin> make_standins(const StandinSpec& spec);

}  // namespace pardec
