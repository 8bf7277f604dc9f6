#pragma once
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/support/clock.hpp"

namespace pardec {

/// The values of `generate --format`.
enum class AnswerFormat { text, json };
/// The format with this name. ConfigError, which names --format: there is no such format.
AnswerFormat parse_answer_format(std::string_view name);

/// Prints the answers of `generate` in the order of the requests, regardless of the order in which
/// the answers are finished.
class AnswerPrinter {
 public:
  /// `out`: for answers; `err`: for errors. `decoder`: the decoder that answers the requests.
  /// `tokenizer`: if null, token ids are printed instead of text. `streams`: whether text is
  /// printed while it is generated, up to the last complete character. The printed text is the same
  /// with and without `streams`. All references and pointers must outlive this object.
  AnswerPrinter(std::ostream& out, std::ostream& err, const std::vector<Request>& requests,
                const Decoder& decoder, const Tokenizer* tokenizer, AnswerFormat format,
                bool streams);

  /// Returns a function for Request::reader of the request at `index`. This function receives the
  /// whole text of the answer so far, and prints the part that is new. It prints nothing until all
  /// earlier requests have been printed. If text is not printed while it is generated (`streams` is
  /// false, the format is json, or there is no tokenizer), the result is an empty std::function.
  /// `clock`: measures the time for reading_ns(). This object and `clock` must outlive the result.
  std::function<void(std::string_view)> reader(std::size_t index, const Clock& clock);
  /// Prints the finished requests that were not printed yet, up to the first request that is still
  /// running. `answers`, `errors`: one entry for each request. A finished request has either an
  /// answer or a nonempty error; a running request has neither. Errors are printed to `err`.
  void print_ready(const std::vector<std::optional<Answers>>& answers,
                   const std::vector<std::string>& errors);
  /// Time spent in the functions that `reader` returned, in nanoseconds, so that the caller can
  /// subtract this time from its measurement.
  std::int64_t reading_ns() const { return reading_ns_; }

 private:
  void print(std::size_t index, const Answers& answers);

  std::ostream &out_, &err_;
  const std::vector<Request>& requests_;
  const Decoder& decoder_;
  const Tokenizer* tokenizer_;
  AnswerFormat format_;
  bool streams_;
  std::size_t printed_ = 0;  ///< number of printed requests
  std::size_t shown_ = 0;    ///< number of printed bytes of the next request's text
  std::int64_t reading_ns_ = 0;
};

}  // namespace pardec
