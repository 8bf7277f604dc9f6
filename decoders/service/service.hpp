#pragma once
#include "decoders/free_running.hpp"

namespace pardec {

/// The form in which a service gets prompts. `automatic`: as token ids if the service's tokenizer
/// gives the same ids as the run's, otherwise as text, otherwise as messages.
enum class PromptMode { automatic, ids, text, chat };
std::string_view name(PromptMode mode);

/// The options of an arm that a service answers.
struct ServiceOptions {
  std::string url, model, key, file, tokenizer;
  PromptMode mode = PromptMode::automatic;
  /// Maximum cost of all runs of the database, in the currency of the prices in `file`; 0: no
  /// limit.
  double budget = 0;
};
/// Converts option values. REQUIRES: they are those of service_entry().
ServiceOptions service_options(const OrderedJson& options);

DecoderEntry service_entry();

}  // namespace pardec
