#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

struct SkeletonOptions {
  bool shared_prefix = false;  ///< question and skeleton are computed once for all points
};

/// A line of the skeleton.
struct SkeletonPoint {
  std::string number, text;
};

/// The lines "number. text" of a skeleton, in order, at most ten; other lines are skipped.
std::vector<SkeletonPoint> parse_skeleton(std::string_view skeleton);

DecoderEntry skeleton_of_thought_entry();

}  // namespace pardec
