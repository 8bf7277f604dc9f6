#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// Generates files with the lengths that papers publish, for datasets whose published files are not
/// available.
namespace pardec {

/// Number of tokens of a product's text. This is our choice, since the HPD paper does not state it.
inline constexpr double kProductText = 250;

struct StandinSpec {
  std::vector<std::string> datasets;
  std::string data_root;  ///< gets one folder for each dataset
  std::string tokenizer;  ///< as in CorpusFiles
  std::uint64_t seed = 1;
  std::int64_t examples = 0;  ///< number for each dataset; 0: as many as published

  std::string shown_tokenizer() const {
    return tokenizer.empty() ? "the quickstart tokenizer" : tokenizer;
  }
};

struct MadeStandin {
  std::string dataset;
  std::int64_t examples;
  std::filesystem::path folder;
};

/// A dataset's folder is either complete or not created. ConfigError: a dataset has no published
/// lengths, or already exists.
std::vector<MadeStandin> make_standins(const StandinSpec& spec);

}  // namespace pardec
