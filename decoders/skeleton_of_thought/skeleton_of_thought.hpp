#pragma once
#include "decoders/decoder.hpp"

namespace pardec {

struct SkeletonOptions {
  bool shared_prefix = false;  ///< whether question and skeleton are computed once for all points
};

/// A point of the skeleton.
struct SkeletonPoint {
  std::string number, text;
};

/// Parses a skeleton: its lines "NUMBER. TEXT", at most ten. Other lines are skipped.
std::vector<SkeletonPoint> parse_skeleton(std::string_view skeleton);

DecoderEntry skeleton_of_thought_entry();

}  // namespace pardec
