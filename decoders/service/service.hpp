#pragma once
#include "decoders/free_running.hpp"

namespace pardec {

/// The form in which prompts are sent to a service.
enum class PromptMode {
  /// If the service's tokenizer and the run's tokenizer give the same ids, the first of `ids`,
  /// `text` and `chat` that the service accepts. Otherwise `chat`.
  automatic,
  ids,   ///< token ids
  text,  ///< text with the markup of the chat template
  chat,  ///< chat messages
};
/// The value of option `mode`: "auto", "ids", "text" or "chat".
std::string_view name(PromptMode mode);

/// The options of an arm that a service answers. Texts may be empty.
struct ServiceOptions {
  std::string url;    ///< base URL of the service, e.g. http://127.0.0.1:8000/v1
  std::string model;  ///< the model's name at the service
  std::string key;    ///< name of the environment variable that contains the API key
  std::string file;   ///< path of a JSON description of the service, instead of url, model and key
  std::string tokenizer;  ///< folder with the service's tokenizer; empty: the run's tokenizer
  PromptMode mode = PromptMode::automatic;
  /// Maximum cost of all runs of the database, in the currency of the prices in `file`; 0: no
  /// limit.
  double budget = 0;
};
/// Reads the options from a JSON object that maps the name of each option to its value
/// (Decoder::options). REQUIRES: `options` contains all options of service_entry().
ServiceOptions service_options(const OrderedJson& options);

/// The entry that service_decoder() returns.
DecoderEntry service_entry();

}  // namespace pardec
