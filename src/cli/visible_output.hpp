#pragma once
#include <streambuf>
#include <string>

namespace pardec {

/// While it lives, what is written to std::cout reaches a terminal by `visible_text`, line by line:
/// ids and answers may hold anything. Where std::cout is no terminal, every byte goes as it is.
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
