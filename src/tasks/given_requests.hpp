#pragma once
#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "src/tasks/session.hpp"

/// What a user gives to be answered, outside any dataset.
namespace pardec {

/// `1,2,3`, or `@FILE` with one such list a line. ConfigError, which names --prompt-tokens and the
/// line.
std::vector<Tokens> parse_token_lists(const std::string& text);

/// The text of a prompt that is given so; `-`: all that `in` holds, without the line end behind it.
std::string prompt_of(const std::string& given, std::istream& in);

/// One Job, or one a line in a .jsonl file; `options`: limits, sampling and seed where it has none.
/// DataError, ConfigError.
std::vector<Job> read_jobs(const std::string& file, const DecodeOptions& options);

/// Requests in the order in which they were given.
struct GivenRequests {
  std::vector<Request> requests;
  std::vector<std::string> errors;      ///< of each; empty: it can be asked
  std::set<std::string> notes;          ///< where prompts are not what the network was taught with
  std::unique_ptr<PromptFile> wording;  ///< of the decoder's own requests
};

/// ConfigError for ids beyond the vocabulary.
GivenRequests token_requests(const std::vector<Tokens>& lists, const ModelConfig& config,
                             const DecodeOptions& options);
/// `open`: they are open prompts. Of several jobs one that cannot be asked has an error, a single
/// one throws it.
GivenRequests job_requests(std::vector<Job> jobs, bool open, const Decoder& decoder,
                           const DecodeOptions& options, const Session& session);

}  // namespace pardec
