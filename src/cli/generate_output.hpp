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

enum class AnswerFormat { text, json };
/// ConfigError, naming --format.
AnswerFormat parse_answer_format(std::string_view name);

/// Prints the output of `generate` in the order of the requests, regardless of the order in which
/// answers end.
class AnswerPrinter {
 public:
  /// All arguments must outlive this object. Without a tokenizer, ids are printed instead of text.
  /// `streams`: text is printed while it is generated, as far as its characters are complete; the
  /// final output is the same.
  AnswerPrinter(std::ostream& out, std::ostream& err, const std::vector<Request>& requests,
                const Decoder& decoder, const Tokenizer* tokenizer, AnswerFormat format,
                bool streams);

  /// For Request::reader of the request at `index`; empty: nothing is printed while it is
  /// generated.
  std::function<void(std::string_view)> reader(std::size_t index, const Clock& clock);
  /// Prints everything that is ready, up to the first request that is still running. A finished
  /// request has either an answer or an error; errors are printed to `err`.
  void print_ready(const std::vector<std::optional<Answers>>& answers,
                   const std::vector<std::string>& errors);
  /// Time spent in readers.
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
