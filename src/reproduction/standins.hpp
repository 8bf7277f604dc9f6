#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// Generates stand-ins: files with the lengths that papers publish, for datasets whose own files
/// are not available.
namespace pardec {

/// Number of tokens in a product's text (dataset amazon-reviews). The HPD paper does not state it;
/// this number is the project's choice.
inline constexpr double kProductText = 250;

/// The settings of a generation.
struct StandinSpec {
  std::vector<std::string> datasets;  ///< names
  std::string data_root;              ///< folder in which a folder for each dataset is created
  std::string tokenizer;              ///< measures lengths; see CorpusFiles::tokenizer
  std::uint64_t seed = 1;
  std::int64_t examples = 0;  ///< number of examples of each dataset; 0: the published number

  /// The tokenizer as shown to the user.
  std::string shown_tokenizer() const {
    return tokenizer.empty() ? "the quickstart tokenizer" : tokenizer;
  }
};

/// A generated dataset.
struct MadeStandin {
  std::string dataset;
  std::int64_t examples;
  std::filesystem::path folder;
};

/// Generates the stand-ins, with the lengths in HPD's Table 2 and IPPD's Table 1 (published_rows).
/// A dataset's folder appears only when it is complete. ConfigError: a dataset has no published
/// lengths, or its folder already exists. RunError: a folder cannot be created. Errors of the
/// tokenizer: see Tokenizer::load. Other errors: see published_rows and write_standin.
std::vector<MadeStandin> make_standins(const StandinSpec& spec);

}  // namespace pardec
