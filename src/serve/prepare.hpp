#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "src/serve/ask.hpp"
#include "src/serve/models.hpp"
#include "src/tasks/decode_options.hpp"
#include "src/tasks/given_requests.hpp"
#include "src/tasks/session.hpp"

/// Converts clients' HTTP requests to the library's requests.
namespace pardec::serve {

/// The sampling of requests that do not specify it: that of the checkpoint's generation_config.json
/// (temperature, top_k, top_p); temperature 1 if the file has no temperature or is missing.
/// `left_out`: the file is not read. ConfigError: a value is not a number.
Sampling default_sampling(const std::filesystem::path& folder, bool left_out);

/// The options under which a request is decoded: its own, otherwise those of the server. `random`:
/// the seed of a request without one. ApiError 400: the values define no distribution.
DecodeOptions options_of(const Ask& ask, DecodeOptions server, const Sampling& sampling,
                         std::uint64_t random);

/// A prompt, ready to decode.
struct Prepared {
  std::shared_ptr<const GivenRequests> given;  ///< with one request
  std::int64_t prompt_tokens = 0;
  std::int64_t rows = 0;  ///< of the cache that one answer may need
  std::string text;       ///< completions: the prompt as text
};

/// The prompts of a request, in its order. Prompts of completions are tokenized as they are, with
/// the tokenizer's special tokens; messages get the session's chat template, as open prompts of
/// `generate` do. With `fields`, the last message is the text of a Job with these fields. ApiError
/// 400: the decoder cannot continue such a prompt or fill fields, the template refuses the
/// messages, an id is not in the vocabulary, or a prompt exceeds the network's positions
/// (context_length_exceeded).
std::vector<Prepared> prepare(const Ask& ask, const ServedModel& model,
                              const DecodeOptions& options, const Session& session);

}  // namespace pardec::serve
