#pragma once
// Skeleton-of-Thought (Ning et al., arXiv:2307.15337); decoders/skeleton_of_thought/README.md
// explains the method.
#include "decoders/decoder.hpp"

namespace pardec {

/// The options of Skeleton-of-Thought.
struct SkeletonOptions {
  bool shared_prefix = false;  ///< whether question and skeleton are computed once for all points
};

/// A point of the skeleton.
struct SkeletonPoint {
  std::string number;  ///< digits, without the full stop
  std::string text;    ///< without white space at both ends
};

/// Parses a skeleton: its lines "NUMBER. TEXT" (the space may be missing). Other lines are skipped.
/// At most the first ten points are returned.
std::vector<SkeletonPoint> parse_skeleton(std::string_view skeleton);

/// The decoder's entry in the registry (decoders()).
DecoderEntry skeleton_of_thought_entry();

}  // namespace pardec
