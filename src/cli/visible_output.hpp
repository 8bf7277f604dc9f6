#pragma once
#include <streambuf>
#include <string>

namespace pardec {

/// Answers and ids of examples may contain control characters. While this object exists, std::cout
/// replaces such characters by visible ones (visible_text) if stdout is a terminal. If stdout is
/// not a terminal, all bytes are unchanged.
class VisibleOutput : private std::streambuf {
 public:
  VisibleOutput();
  ~VisibleOutput() override;
  VisibleOutput(const VisibleOutput&) = delete;
  VisibleOutput& operator=(const VisibleOutput&) = delete;

 private:
  int_type overflow(int_type byte) override;
  int sync() override;
  bool pass_on();

  std::streambuf* below_ = nullptr;
  std::string line_;
};

}  // namespace pardec
