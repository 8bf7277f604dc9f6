#pragma once
#include "decoders/free_running.hpp"

namespace pardec {

/// The form in which a service gets prompts.
enum class PromptMode {
  /// If the service's tokenizer gives the same ids as the run's: ids, or text if the service
  /// refuses ids, or messages if it refuses text too. Otherwise messages.
  automatic,
  ids,   ///< token ids
  text,  ///< text with the markup of the chat template
  chat,  ///< chat messages
};
/// The value of option `mode`: "auto", "ids", "text" or "chat".
std::string_view name(PromptMode mode);

/// The options of an arm that a service answers. Texts may be empty.
struct ServiceOptions {
  std::string url;        ///< base URL of the service, e.g. http://127.0.0.1:8000/v1
  std::string model;      ///< the model's name at the service
  std::string key;        ///< the environment variable with the key
  std::string file;       ///< a JSON description of the service, instead of url, model and key
  std::string tokenizer;  ///< folder with the service's tokenizer; empty: the run's tokenizer
  PromptMode mode = PromptMode::automatic;
  /// Maximum cost of all runs of the database, in the currency of the prices in `file`; 0: no
  /// limit.
  double budget = 0;
};
/// Converts the values of the options of service_entry(). REQUIRES: all options are in `options`.
ServiceOptions service_options(const OrderedJson& options);

DecoderEntry service_entry();

}  // namespace pardec
