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
/// ConfigError, which names --format.
AnswerFormat parse_answer_format(std::string_view name);

/// Prints what `generate` was asked for in the order of the requests, whenever answers end.
class AnswerPrinter {
 public:
  /// All outlive this. No tokenizer: text is the answer's ids. `streams`: text is printed as it is
  /// chosen, as far as its characters are whole; what is printed in the end is the same.
  AnswerPrinter(std::ostream& out, std::ostream& err, const std::vector<Request>& requests,
                const Decoder& decoder, const Tokenizer* tokenizer, AnswerFormat format,
                bool streams);

  /// For Request::reader of the request at `index`; empty where nothing is to be read along.
  std::function<void(std::string_view)> reader(std::size_t index, const Clock& clock);
  /// All that is ready and has nothing before it that is not. Of each request either an answer is
  /// there or an error, which goes to `err`, or it is open.
  void print_ready(const std::vector<std::optional<Answers>>& answers,
                   const std::vector<std::string>& errors);
  /// Time that readers took.
  std::int64_t reading_ns() const { return reading_ns_; }

 private:
  void print(std::size_t index, const Answers& answers);

  std::ostream &out_, &err_;
  const std::vector<Request>& requests_;
  const Decoder& decoder_;
  const Tokenizer* tokenizer_;
  AnswerFormat format_;
  bool streams_;
  std::size_t printed_ = 0;  ///< requests
  std::size_t shown_ = 0;    ///< bytes of the next one's text
  std::int64_t reading_ns_ = 0;
};

}  // namespace pardec
