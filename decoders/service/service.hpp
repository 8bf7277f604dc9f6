#pragma once
#include "decoders/free_running.hpp"

namespace pardec {

/// How a service is given prompts. `automatic`: as ids if its tokenizer gives the run's ids,
/// otherwise as text, otherwise as messages.
enum class PromptMode { automatic, ids, text, chat };
std::string_view name(PromptMode mode);

/// The options of an arm that a service answers.
struct ServiceOptions {
  std::string url, model, key, file, tokenizer;
  PromptMode mode = PromptMode::automatic;
  double budget = 0;  ///< money; 0: no limit
};
/// REQUIRES: the options of such a decoder.
ServiceOptions service_options(const OrderedJson& options);

DecoderEntry service_entry();

}  // namespace pardec
