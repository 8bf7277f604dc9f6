// `pardec model list-families`: the networks that can be read.
#include <string>
#include <vector>

#include "src/cli/model.hpp"
#include "src/cli/table_output.hpp"
#include "src/model/files/families.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

std::vector<std::string> norms(const BlockSpec& block) {
  std::vector<std::string> all;
  if (block.layer_norm) all.push_back("layer norms");
  if (block.norms == Norms::after) all.push_back("norms after sublayers");
  if (block.norms == Norms::both) all.push_back("norms before and after sublayers");
  if (block.qk_norm == QkNorm::heads) all.push_back("norms of each head's queries and keys");
  if (block.qk_norm == QkNorm::whole) all.push_back("norms of all heads' queries and keys");
  return all;
}

/// What a family has that Llama does not have.
std::vector<std::string> features(const Family& family) {
  std::vector<std::string> all = norms(family.block);
  const auto add = [&](bool there, const char* feature) {
    if (there) all.push_back(feature);
  };
  add(family.block.parallel || family.parallel_key, "attention and MLP in parallel");
  add(family.block.activation != Activation::silu, "GELU");
  add(family.block.swiglu_limit > 0, "clamped SwiGLU");
  add(family.block.sinks, "attention sinks");
  add(!family.block.gated, "MLP without a gate");
  add(family.experts.count > 0, "experts");
  add(family.experts.shared_inner > 0, "a shared expert");
  add(family.windows != Windows::none, "sliding window");
  add(family.rope == RopeForm::by_layer, "two rotary embeddings");
  add(family.block.learned_positions, "learned positions");
  add(family.block.qkv != Qkv::apart, "q, k and v in one matrix");
  add(family.transposed, "matrices stored as [in, out]");
  add(family.stacked_experts, "experts in stacked matrices");
  add(family.rotated > 0, "heads rotated in part");
  add(family.block.neighbours_turn, "neighbouring dimensions rotated together");
  add(family.unrotated_nth > 0 || family.full_layers_unrotated, "layers without rotation");
  add(family.attention_cap, "capped scores");
  add(family.logit_cap, "capped logits");
  add(family.scaled_embedding, "scaled embedding");
  add(family.multipliers || family.mup_keys, "multipliers");
  return all;
}

}  // namespace

int list_families(const std::string& format) {
  Table table;
  table.title = "Families of networks";
  table.columns = {{"model_type"}, {"architecture"}, {"in addition to Llama"}};
  for (const Family& family : families())
    table.rows.push_back({{family.model_type, family.model_type},
                          {family.architecture, family.architecture},
                          {join(features(family), ", "), features(family)}});
  print_table(table, parse_table_format(format));
  return 0;
}

}  // namespace pardec
