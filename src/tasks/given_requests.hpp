#pragma once
#include <iosfwd>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "src/tasks/session.hpp"

/// Requests that a user gives directly, outside of any dataset.
namespace pardec {

/// `text`: `1,2,3`, or `@FILE` with one such list per line. ConfigError, naming --prompt-tokens and
/// the line.
std::vector<Tokens> parse_token_lists(const std::string& text);

/// The text of a given prompt; `-`: the contents of `in` without its final line feed.
std::string prompt_of(const std::string& given, std::istream& in);

/// A single Job, or a .jsonl file with one Job per line. `options`: limits, sampling and seed for
/// Jobs without their own. DataError, ConfigError.
std::vector<Job> read_jobs(const std::string& file, const DecodeOptions& options);

/// Requests in the order given.
struct GivenRequests {
  std::vector<Request> requests;
  std::vector<std::string> errors;  ///< one per request; empty: it is valid
  /// differences between prompts and those that the network was trained with
  std::set<std::string> notes;
  std::unique_ptr<PromptFile> wording;  ///< wording of the decoder's own requests
};

/// ConfigError: an id is not in the vocabulary.
GivenRequests token_requests(const std::vector<Tokens>& lists, const ModelConfig& config,
                             const DecodeOptions& options);
/// `open`: the jobs are open prompts. An invalid job gets an entry in `errors`; if it is the only
/// job, its error is thrown.
GivenRequests job_requests(std::vector<Job> jobs, bool open, const Decoder& decoder,
                           const DecodeOptions& options, const Session& session);

}  // namespace pardec
