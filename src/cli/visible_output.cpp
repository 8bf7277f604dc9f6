#include "src/cli/visible_output.hpp"

#include <unistd.h>

#include <iostream>
#include <utility>

#include "src/support/text.hpp"

namespace pardec {

VisibleOutput::VisibleOutput() {
  if (::isatty(STDOUT_FILENO)) below_ = std::cout.rdbuf(this);
}

VisibleOutput::~VisibleOutput() {
  if (!below_) return;
  sync();
  std::cout.rdbuf(below_);
}

VisibleOutput::int_type VisibleOutput::overflow(int_type byte) {
  if (traits_type::eq_int_type(byte, traits_type::eof())) return traits_type::not_eof(byte);
  line_ += traits_type::to_char_type(byte);
  return line_.back() != '\n' || pass_on() ? byte : traits_type::eof();
}

int VisibleOutput::sync() { return pass_on() && below_->pubsync() == 0 ? 0 : -1; }

bool VisibleOutput::pass_on() {
  const std::string text = visible_text(std::exchange(line_, {}), /*lines=*/true);
  const auto size = static_cast<std::streamsize>(text.size());
  return below_->sputn(text.data(), size) == size;
}

}  // namespace pardec
