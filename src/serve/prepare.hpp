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
/// the checkpoint's `folder`. `left_out`: if true, the file is not read. If the file does not have
/// a value, does not exist or is not read, the default is temperature 1, top_k 0 (all tokens), and
/// top_p 1. ConfigError: a value is not a number, or the file is not a JSON object. DataError: the
/// file cannot be read or is not JSON.
Sampling default_sampling(const std::filesystem::path& folder, bool left_out);

/// The options for decoding a request. `server`: the server's options. `sampling`: the result of
/// default_sampling. `random`: a random number, used as the seed if the request has no seed. Other
/// values that the request does not have are taken from these sources:
/// - temperature, top_k and top_p: from `sampling`
/// - the maximum number of tokens: 16 for completions, as in OpenAI's service; for chat, from
///   `server`
/// - `ignore_eos`: false
/// - all other options: from `server`, except the prompt file, which is not used
/// Ask::max_tokens limits each value of a field, too. ApiError 400: temperature, top_k and top_p do
/// not define a distribution.
DecodeOptions options_of(const Ask& ask, DecodeOptions server, const Sampling& sampling,
                         std::uint64_t random);

/// A prompt that is ready for decoding.
struct Prepared {
  std::shared_ptr<const GivenRequests> given;  ///< contains one request
  /// number of tokens of the prompt; a part of the prompt that several fields share counts once
  std::int64_t prompt_tokens = 0;
  std::int64_t rows = 0;  ///< maximum number of cache rows that prompt and answer need together
  std::string text;       ///< with Ask::echo, the prompt as text; otherwise empty
};

/// Prepares the prompts of a request. For completions, the result has an entry for each prompt, in
/// the order of Ask::prompts; for chat, the result has one entry. These rules apply:
/// - A prompt of completions that is a text is tokenized unchanged, with the tokenizer's special
///   tokens. Token ids are used as they are.
/// - Messages are formatted with the session's chat template, in the same way as open prompts of
///   `generate`. The first message may be a system message. The other messages must be user and
///   assistant messages in turn, and the first and the last of them must be user messages.
/// - If the request has fields (Ask::fields), there must be exactly one user message, after at most
///   one system message. The user message becomes the text of a Job with these fields.
/// - If the request has a Job (Ask::job), this Job is prepared.
/// `model` and `options`: the results of chosen_model and options_of. ApiError 400: the decoder
/// does not support such a prompt or another setting of the request; the messages have a different
/// order; the template refuses the messages; the request's Job is invalid or has too many contexts
/// for the decoder; a prompt is empty; or an id is not in the vocabulary. ApiError 400 with code
/// context_length_exceeded: a prompt needs more positions than the network has
/// (Decoder::positions_needed), or has more tokens than fit into the limit of the KV cache.
/// REQUIRES: the session has a tokenizer.
std::vector<Prepared> prepare(const Ask& ask, const ServedModel& model,
                              const DecodeOptions& options, const Session& session);

}  // namespace pardec::serve
