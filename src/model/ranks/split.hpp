#pragma once
// A network of which each of several processes has a part (share.hpp).
#include <span>
#include <string>
#include <vector>

#include "src/model/network.hpp"

namespace pardec {

/// The part of one weight, in its place in the network of part_of(config, share). `whole`: the
/// weight of the whole network of `config`, as in parameters(config) or extra_head_parameters. The
/// result may use the memory of `whole`.
at::Tensor part_of(const Parameter& parameter, const at::Tensor& whole, const ModelConfig& config,
                   const Share& share);

/// Returns the sums of `x` over all processes, in the shape and type of `x`. `x` itself must not be
/// used afterwards: it may or may not contain the sums. Sums are computed in float32, or in float64
/// for float64. RunError: another process does not answer. REQUIRES: all processes call this with
/// tensors of one shape and type.
at::Tensor sum_over(Group& group, at::Tensor x);

/// As reduce_logits, from the logits of each process's own ids [m, Share::vocab.count]. The results
/// are in rank 0; those of other ranks have no meaning. Whole rows of logits are collected in rank
/// 0 only if their requests need more than the two best ids. RunError: another process does not
/// answer. REQUIRES: all processes call this with the same requests.
std::vector<RowLogits> reduce_split_logits(const NetworkSplit& split, const at::Tensor& logits,
                                           std::span<const OutputRequest* const> requests);

}  // namespace pardec
