#include "decoders/apar/format.hpp"

#include <algorithm>

#include "decoders/ar/format.hpp"
#include "decoders/training_formats.hpp"
#include "decoders/training_text.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// A tree with control tokens and ends, in the form in which threads decode it.
class Threads {
 public:
  Threads(const ParagraphTree& tree, const AparTokens& control, const AparEnds& ends)
      : tree_(tree), control_(control), ends_(ends), main_(static_cast<size_t>(tree.size())) {
    for (int node = 0; node >= 0; node = tree.node(node).next_sibling)
      main_[static_cast<size_t>(node)] = true;
  }

  /// The tokens of a node: [Child] if a thread starts there, its text, and [Fork] or the thread's
  /// end.
  Tokens fed(int index) const {
    const ParagraphNode& node = tree_.node(index);
    Tokens tokens;
    if (is_child(index)) tokens.push_back(control_.child);
    tokens.insert(tokens.end(), node.tokens.begin(), node.tokens.end());
    if (node.next_sibling >= 0)
      tokens.push_back(control_.fork);
    else if (ends_.main_has_eos || !main_[static_cast<size_t>(index)])
      tokens.push_back(ends_.eos);
    return tokens;
  }

  /// The first token to be chosen in a node; none: its thread ends before that.
  std::optional<Token> first_chosen(int index) const {
    const Tokens tokens = fed(index);
    const size_t first = is_child(index) ? 1 : 0;
    return first < tokens.size() ? std::optional(tokens[first]) : std::nullopt;
  }

  bool is_child(int index) const {
    const int parent = tree_.node(index).parent;
    return parent >= 0 && tree_.node(parent).first_child == index;
  }

 private:
  const ParagraphTree& tree_;
  AparTokens control_;
  AparEnds ends_;
  std::vector<bool> main_;  // by node: whether it is on the prompt's own thread
};

}  // namespace

AparLayout lay_out(const Tokens& prompt, const ParagraphTree& tree, const AparTokens& control,
                   const AparEnds& ends) {
  const Threads threads(tree, control, ends);
  AparLayout layout;
  for (int node = 1; node < tree.size(); ++node) layout.segments.add(tree.ancestors(node));
  std::vector<int> next_position(static_cast<size_t>(tree.size()), 0);  // position after each node
  const auto feed = [&](Token token, int node, int position, std::optional<Token> target) {
    layout.rows.push_back(
        {token, {.position = position, .order = position, .segment = node, .rank = 0}, target});
  };
  for (size_t i = 0; i < prompt.size(); ++i)
    feed(prompt[i], 0, static_cast<int>(i),
         i + 1 == prompt.size() ? threads.first_chosen(0) : std::nullopt);
  for (const int node : tree.restore_order()) {  // this is also the order of the packed rows
    const int parent = tree.node(node).parent, sibling = tree.node(node).next_sibling;
    int position =
        parent < 0 ? static_cast<int>(prompt.size()) : next_position[static_cast<size_t>(parent)];
    const Tokens tokens = threads.fed(node);
    for (size_t i = 0; i < tokens.size(); ++i) {
      std::optional<Token> target;
      if (i + 1 < tokens.size())
        target = tokens[i + 1];
      else if (sibling >= 0)
        target = threads.first_chosen(sibling);
      feed(tokens[i], node, position++, target);
    }
    next_position[static_cast<size_t>(node)] = position;
  }
  return layout;
}

TrainingSample apar_sample(const AparLayout& layout, int prompt_length) {
  TrainingSample sample;
  sample.segments = layout.segments;
  for (size_t i = 0; i < layout.rows.size(); ++i) {
    const AparRow& row = layout.rows[i];
    if (!row.target && static_cast<int>(i) >= prompt_length) continue;
    sample.add(row.token, row.label);
    if (row.target) sample.expect(*row.target);
  }
  return sample;
}

std::vector<TrainingSample> apar_threads(const Tokens& prompt, const ParagraphTree& tree,
                                         const AparTokens& control, const AparEnds& ends) {
  const Threads threads(tree, control, ends);
  std::vector<TrainingSample> samples;
  const auto extend = [](Tokens& to, const Tokens& more) {
    to.insert(to.end(), more.begin(), more.end());
  };
  for (int first = 0; first < tree.size(); ++first) {
    if (first > 0 && !threads.is_child(first)) continue;
    std::vector<int> before = tree.ancestors(first);
    Tokens given = prompt, chosen;
    for (auto node = before.rbegin(); node != before.rend(); ++node)
      extend(given, threads.fed(*node));
    for (int node = first; node >= 0; node = tree.node(node).next_sibling)
      extend(chosen, threads.fed(node));
    if (first > 0) {
      given.push_back(control.child);
      chosen.erase(chosen.begin());
    }
    samples.push_back(causal_sample(given, chosen));
  }
  return samples;
}

ParagraphTree json_answer_tree(const TrainingExample& example, const Tokenizer& tokenizer) {
  const JsonAnswerIds ids = json_answer_ids(example, tokenizer);
  ParagraphTree tree;
  int paragraph = 0;
  for (size_t r = 0; r < ids.keys.size(); ++r) {
    tree.node(paragraph).tokens = ids.keys[r];
    const auto [next, details] = tree.fork(paragraph);
    tree.node(details).tokens = ids.values[r];
    paragraph = next;
  }
  tree.node(paragraph).tokens = ids.tail;
  return tree;
}

namespace {

class AparFormat final : public TrainingFormat {
 public:
  AparFormat(const AparFormatOptions& options, const Tokenizer& tokenizer, int context_length)
      : options_(options), tokenizer_(tokenizer), context_length_(context_length) {}

  std::string_view name() const override { return options_.unrolled ? "apar-unrolled" : "apar"; }
  Form form() const override { return Form::json; }
  int stack() const override { return options_.stack; }

  std::vector<TrainingSample> samples(const TrainingExample& example) const override {
    std::vector<TrainingSample> all;
    const bool open = example.form == Form::free;
    std::optional<TrainingText> text;
    std::optional<ParagraphTree> open_tree;
    if (open) {
      text = training_text(example, tokenizer_, options_.eos, context_length_);
      if (text->turns.empty()) return all;
      open_tree = paragraph_tree(text->turns.front().text, tokenizer_);
      if (!open_tree && !teaches_no_fork(text->turns.front().text)) return all;
      // Its last thread would have no end.
      if (open_tree && example.unfinished && text->turns.size() == 1) return all;
      if (!open_tree) {
        all.push_back(causal_turns(*text, text->turns.size()));
        all.back().cut = text->cut;
        return all;
      }
    }
    const Tokens prompt = open ? text->turns.front().given : example.pieces.whole_prompt();
    const ParagraphTree tree = open ? *open_tree : json_answer_tree(example, tokenizer_);
    const AparEnds ends{.eos = options_.eos, .main_has_eos = open};
    if (options_.unrolled)
      all = apar_threads(prompt, tree, options_.control, ends);
    else
      all.push_back(apar_sample(lay_out(prompt, tree, options_.control, ends),
                                static_cast<int>(prompt.size())));
    for (const TrainingSample& sample : all) {
      int last = 0;
      for (const RowLabel& label : sample.labels) last = std::max(last, label.position);
      if (last >= context_length_ && open) return {};  // a tree cannot be truncated
      if (last >= context_length_)
        throw ConfigError(str(example.job.id, ": apar needs ", last + 1,
                              " positions, the context length is ", context_length_,
                              "; use a smaller `ar_stack`"));
    }
    return all;
  }

 private:
  AparFormatOptions options_;
  const Tokenizer& tokenizer_;
  int context_length_;
};

}  // namespace

std::unique_ptr<TrainingFormat> make_apar_format(const AparFormatOptions& options,
                                                 const Tokenizer& tokenizer, int context_length) {
  return std::make_unique<AparFormat>(options, tokenizer, context_length);
}

namespace {

std::unique_ptr<TrainingFormat> make(const Options& options, const FormatScene& scene,
                                     std::string_view name, bool unrolled) {
  return make_apar_format({.stack = options.whole("ar-stack"),
                           .unrolled = unrolled,
                           .control = apar_tokens({.fork_token = options.text("fork-token"),
                                                   .child_token = options.text("child-token")},
                                                  &scene.tokenizer, scene.config.vocab_size,
                                                  /*trains=*/true),
                           .eos = end_of_sequence(scene, name)},
                          scene.tokenizer, scene.config.positions());
}

}  // namespace

std::vector<FormatEntry> apar_formats() {
  return {
      {.name = "apar",
       .meaning = "each value is a thread",
       .make = [](const Options& options,
                  const FormatScene& scene) { return make(options, scene, "apar", false); },
       .plain_text = true},
      {.name = "apar-unrolled",
       .meaning = "as apar, one plain sequence per thread",
       .make = [](const Options& options,
                  const FormatScene& scene) { return make(options, scene, "apar-unrolled", true); },
       .plain_text = true}};
}

std::vector<TrainingOption> apar_training_options() {
  return {{Option::token("fork-token",
                         "apar: [Fork] as id or text, if tokenizer.json does not have it by name"),
           "TOKEN", "apar.fork_token"},
          {Option::token("child-token",
                         "apar: [Child] as id or text, if tokenizer.json does not have it by name"),
           "TOKEN", "apar.child_token"}};
}

}  // namespace pardec
