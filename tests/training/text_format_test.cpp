// Open prompts and conversations in the decoders' formats: what is an input, what is a target, and
// that one pass over a sequence computes the same as decoding step by step.
#include <algorithm>
#include <numeric>
#include <set>

#include "decoders/apar/format.hpp"
#include "decoders/aspd/format.hpp"
#include "decoders/space/format.hpp"
#include "decoders/training_text.hpp"
#include "src/support/error.hpp"
#include "src/training/trainer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

constexpr Token kEos = 0, kFork = 330, kChild = 331, kMask = 332;

TrainingExample example_of(const Tokenizer& tokenizer,
                           const std::vector<std::pair<std::string, std::string>>& turns) {
  TrainingExample example;
  example.form = Form::free;
  example.job.id = "talk";
  Context& context = example.job.contexts.emplace_back();
  auto& answers = example.references.emplace_back();
  for (const auto& [said, answer] : turns) {
    context.fields.push_back({"turn " + std::to_string(answers.size() + 1), said, {}});
    answers.emplace_back(answer);
  }
  example.job.conversation = turns.size() > 1;
  PromptFile open;
  open.name = "open";
  open.field = "{question}{choices}";
  example.pieces =
      make_pieces(example.job, Form::free, open, find_chat_template("chatml"), tokenizer);
  return example;
}

Tokens target_ids(const TrainingSample& sample) {
  Tokens ids;
  for (const auto& [row, token] : sample.targets) ids.push_back(token);
  return ids;
}

/// Logits of all rows by one of the heads, each row computed in its own step, in order of time.
at::Tensor step_by_step(Model& model, const TrainingSample& sample, int head = 0) {
  KvCache cache(model);
  std::vector<size_t> order(sample.tokens.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return sample.labels[a].order < sample.labels[b].order;
  });
  std::vector<at::Tensor> rows(sample.tokens.size());
  for (const size_t i : order) {
    const OutputRequest output{.index = 0, .head = head};
    const SequenceStep step{&cache,
                            &sample.segments,
                            std::span(sample.tokens).subspan(i, 1),
                            std::span(sample.labels).subspan(i, 1),
                            {&output, 1}};
    rows[i] = forward_rows(model.network(), {&step, 1});
  }
  return at::cat(rows, 0);
}

double relative(const at::Tensor& one, const at::Tensor& other) {
  return ((one - other).abs().max() / other.abs().max()).item<double>();
}

double worst_difference(Model& model, const TrainingSample& sample) {
  const at::Tensor one_pass =
      logits(model.network(), sample.tokens, sample.labels, sample.segments);
  return relative(one_pass, step_by_step(model, sample));
}

const char* const kList =
    "Here are three:\n\n1. Red: the colour of many apples.\n2. Blue: the colour of the sky.\n"
    "3. Green: the colour of the grass.\n\nThat is all.";
const char* const kParagraphs =
    "The first one is short. It goes on for a while.\n\nA second one follows here. It says "
    "more.\n\n"
    "The third one comes last. It ends the text.";

double mean_loss(Trainer& trainer, const std::vector<TrainingSample>& samples) {
  std::vector<const TrainingSample*> all;
  for (const TrainingSample& sample : samples) all.push_back(&sample);
  return trainer.loss(all);
}

}  // namespace

TEST_CASE("a conversation: fed as in decoding, every answer learned, no prompt") {
  TinyNetwork tiny("llama", 3);
  const Tokenizer& tokenizer = tiny.tokenizer();
  TrainingExample example = example_of(tokenizer, {{"Hi.", "Hello."}, {"Who?", "Me, you."}});
  const auto format = make_ar_format({.eos = kEos}, tokenizer, 1000);
  const std::vector<TrainingSample> made = format->samples(example);
  REQUIRE(made.size() == 1);
  const TrainingSample& sample = made.front();
  // A later turn as in src/tasks/conversation.cpp: prompt, the answer's ids without its end, the
  // text in between.
  Tokens fed = example.pieces.field_prompt(0, 0), first = tokenizer.encode_piece("Hello.", false),
         second = tokenizer.encode_piece("Me, you.", false), wanted = first;
  fed.insert(fed.end(), first.begin(), first.end());
  fed.insert(fed.end(), example.pieces.fields[0][1].begin(), example.pieces.fields[0][1].end());
  fed.insert(fed.end(), second.begin(), second.end());
  CHECK(sample.tokens == fed);
  wanted.push_back(kEos);
  wanted.insert(wanted.end(), second.begin(), second.end());
  wanted.push_back(kEos);
  CHECK(target_ids(sample) == wanted);
  CHECK_FALSE(sample.cut);
  Model model = tiny.load(Dtype::fp64);
  CHECK(worst_difference(model, sample) < 1e-9);

  // A shorter context: its content is the same, and it says that more would follow.
  for (const int most : {static_cast<int>(fed.size()) - 3, 20, 12}) {
    const auto shorter = make_ar_format({.eos = kEos}, tokenizer, most)->samples(example);
    if (most <= std::ssize(example.pieces.field_prompt(0, 0))) {
      CHECK(shorter.empty());
      continue;
    }
    REQUIRE(shorter.size() == 1);
    CHECK(shorter.front().cut);
    CHECK(std::ssize(shorter.front().tokens) <= most);
    CHECK(std::equal(shorter.front().tokens.begin(), shorter.front().tokens.end(), fed.begin()));
    const bool as_before = std::equal(shorter.front().targets.begin(),
                                      shorter.front().targets.end(), sample.targets.begin());
    CHECK(as_before);
  }
  CHECK_THROWS_AS(make_ar_format({}, tokenizer, 1000)->samples(example), ConfigError);

  // An answer that was cut when it was written: its end is not learned, everything else is.
  example.unfinished = true;
  const auto cut = make_ar_format({.eos = kEos}, tokenizer, 1000)->samples(example);
  REQUIRE(cut.size() == 1);
  Tokens ends = target_ids(sample);
  REQUIRE(ends.back() == kEos);
  ends.pop_back();
  CHECK(target_ids(cut.front()) == ends);
}

TEST_CASE("space: one turn of a conversation gets masks, earlier turns are unchanged") {
  TinyNetwork tiny("llama", 4);
  TrainingExample example = example_of(
      tiny.tokenizer(), {{"Hi.", "Hello there."}, {"Who?", "Me, and you."}, {"Why?", "So."}});
  const TrainingText text = training_text(example, tiny.tokenizer(), kEos, 1000);
  Model model = tiny.load(Dtype::fp64);
  std::vector<int> masked(3);
  for (const bool one_pass : {false, true})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      example.seed = seed;
      const auto made =
          make_space_format(
              {.ar = {.eos = kEos}, .k = 3, .p_ar = 0, .one_pass = one_pass, .mask = kMask},
              tiny.tokenizer(), 1000)
              ->samples(example);
      REQUIRE(made.size() == 1);
      const TrainingSample& sample = made.front();
      CHECK(std::count(sample.tokens.begin(), sample.tokens.end(), kMask) == 3);
      // Which turn: the first one whose answer is not whole, or in one pass the last.
      const Tokens ids = target_ids(sample);
      size_t turn = 0, before = 0;
      while (turn < 2 && causal_turns(text, turn + 1).tokens.size() + 3 < sample.tokens.size())
        before += text.turns[turn++].answer.size();
      ++masked[turn];
      const Tokens& answer = text.turns[turn].answer;
      const size_t own = ids.size() - before - 3;
      CHECK(own <= answer.size());
      CHECK((own == answer.size()) == one_pass);
      CHECK(std::equal(answer.begin(), answer.begin() + static_cast<std::ptrdiff_t>(own),
                       ids.begin() + static_cast<std::ptrdiff_t>(before)));
      // The targets of the masks are consecutive tokens of the answer.
      CHECK(std::search(answer.begin(), answer.end(), ids.end() - 3, ids.end()) != answer.end());
      if (seed <= 4) CHECK(worst_difference(model, sample) < 1e-9);
    }
  CHECK(masked[0] > 3);
  CHECK(masked[1] > 3);
}

TEST_CASE("apar: lists and paragraphs become trees, each token a target once") {
  TinyNetwork tiny("llama", 5);
  const Tokenizer& tokenizer = tiny.tokenizer();
  for (const auto& [text, threads] : {std::pair{kList, 4}, std::pair{kParagraphs, 4}}) {
    const auto tree = paragraph_tree(text, tokenizer);
    REQUIRE(tree);
    // [Fork] replaces line breaks, which are restored; the details of a list then begin a new line.
    std::string restored = restore(*tree, tokenizer).bytes, expected = text;
    if (text == kList) {
      for (const char* number : {"2.", "3."})
        expected.replace(expected.find(std::string("\n") + number), 1, "\n\n");
      for (const char* root : {"Red:", "Blue:", "Green:"})
        expected.insert(expected.find(root) + std::string(root).size(), "\n");
    }
    CHECK(restored == expected);

    TrainingExample cut = example_of(tokenizer, {{"Which?", text}});
    const AparFormatOptions trees{.control = {.fork = kFork, .child = kChild}, .eos = kEos};
    CHECK(make_apar_format(trees, tokenizer, 1000)->samples(cut).size() == 1);
    cut.unfinished = true;
    CHECK(make_apar_format(trees, tokenizer, 1000)->samples(cut).empty());

    const TrainingExample example = example_of(tokenizer, {{"Which?", text}, {"And?", "No."}});
    std::vector<std::vector<TrainingSample>> made;
    for (const bool unrolled : {false, true})
      made.push_back(
          make_apar_format(
              {.unrolled = unrolled, .control = {.fork = kFork, .child = kChild}, .eos = kEos},
              tokenizer, 1000)
              ->samples(example));
    REQUIRE(made[0].size() == 1);
    CHECK(std::ssize(made[1]) == threads);
    // All tokens of the tree, one [Fork] for each group of details, one end for each thread, and
    // never [Child].
    Tokens wanted, packed = target_ids(made[0].front()), apart;
    for (int node = 0; node < tree->size(); ++node)
      wanted.insert(wanted.end(), tree->node(node).tokens.begin(), tree->node(node).tokens.end());
    wanted.insert(wanted.end(), static_cast<size_t>(threads) - 1, kFork);
    wanted.insert(wanted.end(), static_cast<size_t>(threads), kEos);
    for (const TrainingSample& thread : made[1])
      for (const Token id : target_ids(thread)) apart.push_back(id);
    for (Tokens* ids : {&wanted, &packed, &apart}) std::sort(ids->begin(), ids->end());
    CHECK(packed == wanted);
    CHECK(apart == wanted);

    Model model = tiny.load(Dtype::fp64);
    CHECK(worst_difference(model, made[0].front()) < 1e-9);
    std::map<std::string, at::Tensor> weights;
    for (const auto& [name, weight] : model.network().named_parameters())
      weights.emplace(name, weight);
    const auto what = whole_network(model.config());
    Trainer trainer(*what, weights, {.dtype = Dtype::fp64});
    CHECK(std::abs(mean_loss(trainer, made[0]) - mean_loss(trainer, made[1])) < 1e-9);
  }
}

TEST_CASE("apar: texts that are not trees, and that train not to fork") {
  TinyNetwork tiny("llama", 6);
  const Tokenizer& tokenizer = tiny.tokenizer();
  const auto tree = [&](const std::string& text) {
    return paragraph_tree(text, tokenizer).has_value();
  };
  CHECK_FALSE(
      tree("1. Red: the colour of apples.\n2. Blue: the colour of the sky."));  // two points
  // The last detail ends at an empty line, not at the end of the text.
  const std::string points =
      "1. Red: the colour of apples.\n2. Blue: the colour of the sky.\n3. Green: the grass below.";
  CHECK_FALSE(tree(points));
  CHECK_FALSE(tree(points + "\nThat is all."));
  CHECK(tree(points + "\n\nThat is all."));
  CHECK(tree(points + "\n\n"));
  CHECK_FALSE(tree("1. Red: apples.\n2. Blue: the sky above us.\n3. Green: the grass below."));
  CHECK_FALSE(tree("One sentence. And more of it.\n\nA second one. And more of it."));
  CHECK_FALSE(tree(std::string(kParagraphs) + " See http://x.org."));
  CHECK_FALSE(tree(std::string(kList) + "\n```\ncode\n```"));
  CHECK_FALSE(
      tree("Yes. It goes on.\n\nA second one follows. It says more.\n\nA third one. More."));
  CHECK_FALSE(tree(std::string(kParagraphs) + " Ask Dr. Who."));
  CHECK_FALSE(tree(std::string(kParagraphs) + " \xE4\xB8\xAD\xE6\x96\x87"));
  CHECK(tree(std::string(kParagraphs) + "\n\nA paragraph of one sentence stays whole."));

  CHECK(teaches_no_fork("Run ```ls```."));
  CHECK(teaches_no_fork("So x = 3."));
  CHECK(teaches_no_fork("12 + 34 is more."));
  CHECK(teaches_no_fork("Use a <b> tag."));
  CHECK_FALSE(teaches_no_fork("It is 12 degrees, or 34. 1 + 2 is less."));

  const auto samples = [&](const std::string& answer) {
    return make_apar_format({.control = {.fork = kFork, .child = kChild}, .eos = kEos}, tokenizer,
                            300)
        ->samples(example_of(tokenizer, {{"Well?", answer}, {"And?", "No."}}));
  };
  CHECK(samples("Just so.").empty());
  const std::vector<TrainingSample> sum = samples("So x = 3.");
  REQUIRE(sum.size() == 1);
  CHECK_FALSE(contains(sum.front().tokens, kFork));
  CHECK(target_ids(sum.front()).back() == kEos);
  std::string longer = kParagraphs;
  longer.insert(longer.size() - 1, std::string(300, 'a'));
  CHECK(samples(longer).empty());  // a tree is not cut
}

TEST_CASE("aspd: markup is fed as it is decoded, each token a target once") {
  TinyNetwork tiny("llama", 7);
  const Tokenizer& tokenizer = tiny.tokenizer();
  const TrainingExample example =
      example_of(tokenizer, {{"Which?",
                              "Two:<Title>a</Title><Title>bc</Title><Para><Branch>a: one.</Branch>"
                              "<Branch>bc: two of them.</Branch></Para> So."},
                             {"And?", "No."}});
  constexpr Token kTitle = 1, kTitleEnd = 2, kBranch = 3, kBranchEnd = 393, kPara = 394,
                  kParaEnd = 395, kColon = 4 + ':';
  Tokens wanted;
  const auto want = [&](const std::string& text, const Tokens& more) {
    for (const Token id : tokenizer.encode_piece(text, false)) wanted.push_back(id);
    wanted.insert(wanted.end(), more.begin(), more.end());
  };
  want("Two:", {kTitle});
  want("a", {kTitleEnd, kTitle});
  want("bc", {kTitleEnd, kPara, kBranch});
  want("a", {kColon});
  want(" one.", {kBranchEnd, kBranch});
  want("bc", {kColon});
  want(" two of them.", {kBranchEnd, kParaEnd});
  want(" So.", {kEos});
  Model model = tiny.load(Dtype::fp64);
  for (const char* positions : {"same-seq", "same-max", "same-re", "fix-32", "fix-512"})
    for (const bool shared : {false, true}) {
      INFO(positions << (shared ? " shared" : ""));
      const auto format = [&](int context_length) {
        return make_aspd_format({.decoder = {.positions = parse_aspd_positions(positions),
                                             .shared = shared,
                                             .tokens = "1,2,3,393,394,395"},
                                 .eos = kEos},
                                tokenizer, context_length, model.config().vocab_size);
      };
      const std::vector<TrainingSample> made = format(4000)->samples(example);
      REQUIRE(made.size() == 1);
      const TrainingSample& sample = made.front();
      CHECK(target_ids(sample) == wanted);
      std::set<int> rows;
      for (const auto& [row, token] : sample.targets) rows.insert(row);
      CHECK(rows.size() == sample.targets.size());
      CHECK(worst_difference(model, sample) < 1e-9);
      int last = 0;
      for (const RowLabel& label : sample.labels) last = std::max(last, label.position);
      if (last < 512) continue;  // its text needs more positions than its branches
      CHECK(format(last + 1)->samples(example).size() == 1);
      CHECK(format(last)->samples(example).empty());  // one position too few: it is left out
    }
}

TEST_CASE("medusa: heads learn the logits with which they decode, each token a target once") {
  for (const bool shares : {false, true})
    for (const int blocks : {1, 2}) {
      constexpr int kHeads = 3;
      TinyNetwork tiny(shares ? "qwen3" : "llama", 8);
      tiny.add_heads(kHeads, blocks, 5, shares);
      const TrainingExample example =
          example_of(tiny.tokenizer(), {{"Hi.", "Hello."}, {"Who?", "Me, you."}});
      const TrainingText text = training_text(example, tiny.tokenizer(), kEos, 1000);
      const TrainingSample sample = causal_turns(text, 2);
      Model model = tiny.load(Dtype::fp64);
      const auto what =
          extra_heads(model.config(), {.heads = kHeads, .blocks = blocks, .shares_head = shares});
      const PackedSequence whole{sample.tokens, sample.labels, &sample.segments};
      std::vector<std::int64_t> rows(sample.tokens.size());
      std::iota(rows.begin(), rows.end(), 0);
      const at::Tensor inputs = head_inputs(model.network(), {&whole, 1}, rows);
      for (int head = 1; head <= kHeads; ++head) {
        INFO(blocks << " blocks, head " << head << (shares ? ", shared" : ""));
        const auto loss = static_cast<size_t>(head - 1);
        const at::Tensor steps = step_by_step(model, sample, head);
        CHECK(relative(what->logits(model.network(), loss, inputs), steps) < 1e-9);
        CHECK(relative(step_by_step(model, sample), steps) > 1e-3);
        // Each answer without its first tokens, in order.
        Tokens wanted, learned;
        for (const TrainingTurn& turn : text.turns)
          wanted.insert(wanted.end(), turn.answer.begin() + head, turn.answer.end());
        for (const RowTargets& at : what->targets(sample))
          if (at.tokens.size() > loss) learned.push_back(at.tokens[loss]);
        CHECK(learned == wanted);
      }
      // The rows of a step by several heads at once; heads on one matrix are one product.
      std::vector<OutputRequest> outputs;
      for (int row : {4, 1, 4, 2})
        for (int head : {2, 0, 3, 1}) outputs.push_back({.index = row, .head = head});
      KvCache cache(model);
      const SequenceStep step{&cache, &sample.segments, std::span(sample.tokens).first(6),
                              std::span(sample.labels).first(6), outputs};
      const at::Tensor mixed = forward_rows(model.network(), {&step, 1});
      for (size_t i = 0; i < outputs.size(); ++i)
        CHECK(relative(mixed[static_cast<std::int64_t>(i)],
                       step_by_step(model, sample, outputs[i].head)[outputs[i].index]) < 1e-9);
    }
}
