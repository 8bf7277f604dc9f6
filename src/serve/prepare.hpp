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
/// the checkpoint's `folder`. A value that the file does not have is 1 for temperature, 0 (all
/// tokens) for top_k, and 1 for top_p. The result has these three values if there is no such file,
/// or if `left_out` is true. ConfigError: a value is not a number, or the file is not a JSON
/// object. DataError: the file cannot be read or is not JSON.
Sampling default_sampling(const std::filesystem::path& folder, bool left_out);

/// The options for decoding a request. `server`: the server's options. `random`: a random number.
/// Values that the request does not have are taken from these sources:
/// - temperature, top_k and top_p: from `sampling`
/// - the seed: `random`
/// - the limit of tokens: 16 for completions, as in OpenAI's service; for chat, the limit in
///   `server`
/// - `ignore_eos`: false
/// - all other options: from `server`, but without its prompt file
/// The request's `max_tokens` also limits the value of each field. ApiError 400: temperature, top_k
/// and top_p do not define a distribution.
DecodeOptions options_of(const Ask& ask, DecodeOptions server, const Sampling& sampling,
                         std::uint64_t random);

/// A prompt that is ready for decoding.
struct Prepared {
  std::shared_ptr<const GivenRequests> given;  ///< contains one request
  /// number of tokens of the prompt; a part that several fields share counts once
  std::int64_t prompt_tokens = 0;
  std::int64_t rows = 0;  ///< maximum number of cache rows that prompt and answer need
  std::string text;       ///< the prompt as text if the request has `echo`; otherwise empty
};

/// Prepares the prompts of a request, in the order of the request:
/// - Prompts of completions are tokenized unchanged, with the tokenizer's special tokens.
/// - Messages are formatted with the session's chat template, like open prompts of `generate`. The
///   first message may be a system message. After that, user and assistant messages alternate; the
///   first and the last of these are user messages.
/// - If the request has fields (Ask::fields), there must be exactly one user message, after at most
///   one system message. The user message becomes the text of a Job with these fields.
/// - If the request has a Job (Ask::job), this Job is prepared.
/// `model` and `options`: the results of chosen_model and options_of. ApiError 400: the decoder
/// does not support such a prompt or another setting of the request; the messages have another
/// order; the template refuses the messages; the request's Job is invalid or has too many contexts
/// for the decoder; a prompt is empty; or an id is not in the vocabulary. ApiError 400 with code
/// context_length_exceeded: a prompt needs more positions than the network has
/// (Decoder::positions_needed), or has more tokens than fit into the limit of the KV cache.
/// REQUIRES: the session has a tokenizer.
std::vector<Prepared> prepare(const Ask& ask, const ServedModel& model,
                              const DecodeOptions& options, const Session& session);

}  // namespace pardec::serve
