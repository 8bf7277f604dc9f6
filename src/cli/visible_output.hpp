#pragma once
#include <streambuf>
#include <string>

namespace pardec {

/// During its lifetime, output to std::cout on a terminal is passed through `visible_text`, line by
/// line, since ids of examples and answers may contain control characters. If std::cout is not a
/// terminal, all bytes are unchanged.
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
