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

/// The default sampling of requests: temperature, top_k and top_p from generation_config.json in
/// the checkpoint's `folder`. A missing value is 1, 0 (all tokens) and 1, respectively. If
/// `left_out`, the file is not read. ConfigError: a value is not a number, or the file is not a
/// JSON object. DataError: the file cannot be read or is not JSON.
Sampling default_sampling(const std::filesystem::path& folder, bool left_out);

/// The options for decoding a request: those of the request, and for the others the defaults in
/// `server` and `sampling`. Exception: completions without `max_tokens` have at most 16 tokens, as
/// in OpenAI's service. The request's `max_tokens` also limits the value of each field. `random`:
/// the seed if the request has none. ApiError 400: temperature, top_k and top_p do not define a
/// distribution.
DecodeOptions options_of(const Ask& ask, DecodeOptions server, const Sampling& sampling,
                         std::uint64_t random);

/// A prompt that is ready for decoding.
struct Prepared {
  std::shared_ptr<const GivenRequests> given;  ///< contains one request
  std::int64_t prompt_tokens = 0;              ///< a part that several fields share counts once
  std::int64_t rows = 0;  ///< maximum number of cache rows that prompt and answer need
  std::string text;       ///< the prompt as text if the request has `echo`; otherwise empty
};

/// Prepares the prompts of a request, in the order of the request. Prompts of completions are
/// tokenized unchanged, with the tokenizer's special tokens. Messages are formatted with the
/// session's chat template, like open prompts of `generate`. If the request has fields, its user
/// message, which only a system message may precede, is the text of a Job with these fields. If the
/// request has a Job (Ask::job), this Job is prepared. ApiError 400: the decoder does not support
/// such a prompt or another setting of the request; the messages do not alternate between user and
/// assistant, or the last one is not the user's; the template refuses the messages; the request's
/// Job is invalid or has too many contexts for the decoder; a prompt is empty; an id is not in the
/// vocabulary; or a prompt exceeds the network's positions or the cache's memory limit (code
/// context_length_exceeded).
std::vector<Prepared> prepare(const Ask& ask, const ServedModel& model,
                              const DecodeOptions& options, const Session& session);

}  // namespace pardec::serve
