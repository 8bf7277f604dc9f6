#include "src/tokenizer/stretch.hpp"

#include <algorithm>

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec {

void check_growth(std::size_t before, std::size_t after) {
  if (after > 4096 + 16 * before)
    throw RunError(str("a text of ", before, " bytes becomes one of more than ", after,
                       ", expected at most ", 4096 + 16 * before));
}

Stretch Stretch::of_input(std::string_view input, std::size_t begin, std::size_t end) {
  const std::size_t first = begin < end ? utf8_bytes(input[begin]) : 0;
  return {std::string(input.substr(begin, end - begin)), begin == 0, first};
}

Stretch Stretch::part(std::size_t begin, std::size_t end) const {
  const bool starts = at_start && begin < first;
  return {text.substr(begin, end - begin), starts, starts ? std::min(first, end) - begin : 0};
}

void Stretch::prepend(std::string_view added) {
  if (text.empty()) return;
  check_growth(text.size(), text.size() + added.size());
  text.insert(0, added);
  if (first > 0) first += added.size();
}

void Rewriting::keep(std::size_t bytes) {
  new_.text.append(old_.text, at_, bytes);
  if (at_ < old_.first) new_.first += std::min(bytes, old_.first - at_);
  at_ += bytes;
}

void Rewriting::replace(std::size_t bytes, std::string_view text) {
  write(text, at_ < old_.first);
  at_ += bytes;
}

void Rewriting::write(std::string_view text, bool of_first) {
  check_growth(old_.text.size(), new_.text.size() + text.size());
  new_.text += text;
  if (of_first) new_.first += text.size();
}

std::size_t Rewriting::bytes_of(int characters) const {
  std::size_t end = at_;
  for (; characters > 0 && end < old_.text.size(); --characters) end += utf8_bytes(old_.text[end]);
  return end - at_;
}

}  // namespace pardec
