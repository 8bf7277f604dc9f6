#pragma once
#include <streambuf>
#include <string>

namespace pardec {

/// While this object exists, and if stdout is a terminal, std::cout replaces control characters by
/// visible characters (visible_text). Such characters may come from answers or from the ids of
/// examples. If stdout is not a terminal, all bytes are unchanged.
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
