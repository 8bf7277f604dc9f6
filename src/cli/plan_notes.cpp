#include "src/cli/plan_notes.hpp"

#include <set>
#include <utility>

#include "src/checkpoint/checkpoint_notes.hpp"
#include "src/findings/comparison.hpp"
#include "src/runs/arms.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"
#include "src/tasks/ends.hpp"
#include "src/tasks/request.hpp"

namespace pardec {

void add_size_notes(Table& table, const std::string& who, const PromptSizes& sizes,
                    std::int64_t jobs, const ModelConfig& config) {
  if (sizes.too_long)
    table.notes.push_back(str(who, ": ", sizes.too_long, " of ", counted(jobs, "job"),
                              " will overflow the context and fail: up to ", sizes.most,
                              " positions are needed, ", config.positions_key(), " is ",
                              config.positions()));
  if (sizes.refused)
    table.notes.push_back(str(who, ": ", sizes.refused, " of ", counted(jobs, "job"),
                              " cannot be asked and will fail, the first one since ", sizes.why));
}

void add_fill_note(Table& table, const std::string& who, double full, std::int64_t jobs,
                   std::int64_t blocks, int batch_size) {
  if (jobs == 0 || full >= 0.5) return;
  table.notes.push_back(str(who, ": its batch of ", batch_size, " is full for ", percent(full, 0),
                            " of ", counted(jobs, "job"), " in ", counted(blocks, "block"),
                            "; a smaller batch_size, more examples or a longer --block fill it"));
}

// the default number of blocks is enough for findings
static_assert(kLeastBlocks == kFewestBlocks);

std::string block_note(const RunSpec& spec, const Workload& work) {
  const std::string blocks = str(work.dataset.name, ": ", counted(std::ssize(work.blocks), "block"),
                                 " of about ", counted(work.block, "example"));
  if (spec.block > 0) return blocks + ", as --block says";
  if (std::ssize(work.blocks) == 1)
    return blocks + ", since there are too few jobs to make six blocks";
  if (work.block >= work.filling_block)
    return blocks + ", so that each arm's batch is full during three quarters of its jobs";
  return str(blocks, ", so that there are the ", kFewestBlocks, " that an interval needs",
             spec.shard.count > 1 ? " and one for each shard" : "",
             "; longer ones would fill the batches better: more examples (--limit) or a smaller "
             "batch_size do both");
}

std::string protocol_note(const RunSpec& spec, const Workload& work) {
  const Protocol& protocol = work.protocols.front();  // the arms' protocols only differ in wording
  const Limits limits = limits_on(protocol, Form::value, spec.decode);
  const bool own = !spec.decode.per_field && protocol.answer_ids > 0 && protocol.most_ids == 0;
  return str(work.dataset.name, ", asked field by field: answers of at most ",
             counted(limits.per_field, "id"),
             own ? " (the dataset's limit; --per-field gives another), " : ", ",
             counted(std::ssize(protocol.shots), "worked example"), " in the prompt");
}

ArmFace look_at(const RunSpec& spec, const Arm& arm) {
  const ModelOptions networks = networks_of(spec, arm);
  ArmFace seen{read_face(networks), std::nullopt, {}};
  if (arm.algorithm->elsewhere()) {
    seen.needs.text = "a service";
    return seen;
  }
  seen.needs = needs_of(*arm.algorithm, seen.face ? &*seen.face : nullptr, networks.draft_model);
  if (seen.face && seen.face->tokenizer)
    seen.chat = template_for(spec.decode.chat_template, tokenizer_folder(networks),
                             spec.decode.chat_set, parse_thinking(spec.decode.thinking));
  return seen;
}

std::string networks_note(const RunSpec& spec) {
  const auto described = [&](const Arm& arm) {
    const ModelOptions networks = networks_of(spec, arm);
    return str(networks.model.empty() ? "(none given)" : networks.model,
               networks.adapter.empty() ? "" : " with adapter " + networks.adapter,
               networks.draft_model.empty() ? "" : " with draft " + networks.draft_model);
  };
  if (!several_networks(spec)) return "model: " + described(spec.arms.front());
  std::vector<std::string> parts;
  for (const Arm& arm : spec.arms) parts.push_back(str(arm.label, ": ", described(arm)));
  return "models: " + join(parts, ", ");
}

void add_file_notes(Table& table, const RunSpec& spec, const std::vector<ArmFace>& seen) {
  std::set<std::string> said;
  const auto say = [&](const ModelOptions& network, const std::vector<std::string>& notes) {
    for (const std::string& note : notes)
      if (const std::string line = str(network.model, ": ", note);
          !note.empty() && said.insert(line).second)
        table.notes.push_back(line);
  };
  for (size_t a = 0; a < seen.size(); ++a) {
    const ModelOptions network = networks_of(spec, spec.arms[a]);
    say(network, checkpoint_notes(network.model));
    if (!network.draft_model.empty()) {
      const ModelOptions draft = draft_options(network);
      say(draft, checkpoint_notes(draft.model));
    }
    if (!seen[a].face) continue;
    const auto& [config, read] = *seen[a].face;
    const Tokenizer* const tokenizer = read ? &*read : nullptr;
    if (tokenizer) say(network, {foreign_ids(*tokenizer, config)});
    if (!spec.decode.ignore_eos)
      say(network, end_notes(network, config, tokenizer, seen[a].chat ? &*seen[a].chat : nullptr,
                             given_ends(spec.decode.eos, config, tokenizer)));
    say(network, {generation_note(config.generation, spec.decode.no_generation_config)});
  }
}

}  // namespace pardec
