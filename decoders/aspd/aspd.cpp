// Adaptive Serial-Parallel Decoding (ASPD).
//
// Idea: the network itself decides which parts of its answer are independent. It names them by
// titles, and starts them with <Para>: every branch begins with the forced prefix <Branch> T ":"
// and is decoded until its </Branch>. All branches have the same positions, and do not see each
// other. After </Para>, the main branch continues and sees all branches at their places in the
// cache. There may be any number of such blocks. Nothing is copied or computed again (except with
// Same-Re).
//
//   u <Title> a </Title> <Title> b </Title> <Para>   <Branch> a : x0 x1 </Branch>   </Para> z ...
//                                                    <Branch> b : y0 y1 </Branch>
//   positions (Same-Seq)                          8      9   10 11 12 13     14        21  22
//
// Source: Chen et al., "ASPD: Unlocking Adaptive Serial-Parallel Decoding by Exploring Intrinsic
// Parallelism in LLMs", arXiv:2508.08895, sections 3.2 and 3.3, Eq. 1 to 4, ablations of 4.5.
// Letters are the paper's.
//
// Differences from the paper, which leaves these points open: <Para> is computed before the
// branches, and the space after "T:" is the network's own choice. If a branch ends by anything
// other than </Branch> (end of sequence, max_steps, the network's last position), the token that
// ended it is not computed, and a forced </Branch> takes its place. The limit of an answer ends all
// branches at once. One forward pass computes <Para> and all prefixes; with the shared mask,
// prefixes need one pass per token. Same-Re computes the moved branches in a separate pass.
// Requests are batched; the paper uses batch size 1.
#include "decoders/aspd/aspd.hpp"

#include <algorithm>

#include "decoders/aspd/format.hpp"
#include "decoders/control_tokens.hpp"
#include "decoders/free_running.hpp"
#include "decoders/writer.hpp"

namespace pardec {

namespace {

/// A branch of a block, after its end.
struct Branch {
  Stream y;    ///< its choices, and its text without the prefix and the end token
  Tokens fed;  ///< prefix, choices, </Branch>
};

/// One response y (section 3.3): serial stages of the main branch, with parallel stages between
/// them.
class Hybrid {
 public:
  Hybrid(const StreamRequest& request, const AspdOptions& options, const DecoderContext& context);
  Task<Stream> respond(const Tokens& prompt);

 private:
  Task<int> decode_serial(Step step);
  std::optional<Stop> open_block(const std::vector<Tokens>& prefixes, int from, Step& step);
  Task<std::vector<Branch>> decode_block(std::vector<Tokens> prefixes, Step step);
  Task<Branch> decode_branch(int k, Tokens prefix, Step step, Chooser chooser);
  Step moved(const std::vector<Branch>& branches);
  void add_block(const std::vector<Branch>& branches);
  Stream finish();

  std::optional<Stop> serial_end(Token token, std::string_view text, bool block);
  std::optional<Stop> branch_end(Token token, int k, int length);
  std::optional<Stop> no_return();
  Choice choose(Chooser& chooser, const RowLogits& logits, int row, Stream& y, int stream);
  Chooser branch_chooser();
  bool branches_recorded() const { return oracle_ && begun_ < oracle_->branches.size(); }

  Counters& counters() { return sequence_.counters(); }
  int positions() const { return context_.engine.model().config().positions(); }
  bool spent() { return counters().chosen >= rule_.limit || context_.interrupted(); }
  std::string_view bytes(Token token) const {
    return context_.tokenizer ? context_.tokenizer->bytes(token) : std::string_view();
  }

  const DecoderContext& context_;
  const AspdOptions& options_;
  Sampling sampling_;
  StopRule rule_;  // `until` applies to the text of the main branch
  AspdTokens tokens_;
  std::vector<Token> eos_;
  std::optional<AspdStreams> oracle_;
  size_t begun_ = 0;  // number of branches, over all blocks
  int streams_ = 0;   // number of stages and branches
  std::unique_ptr<Chance> chance_;
  Sequence sequence_;
  AspdLayout layout_;
  AspdGrammar grammar_;
  Chooser x_;  // for the main branch
  Stream y_;   // ids in flattened order
  std::optional<Stop> stop_;
  std::vector<std::int64_t> branch_lengths_;  // number of ids chosen for each branch
};

// --- The stages of a response ---

Task<Stream> Hybrid::respond(const Tokens& prompt) {
  Step step;
  for (const Token token : prompt) step.add(token, layout_.main(), Origin::prompt);
  for (;;) {
    // 1. Serial, including the titles T of the next block.
    const int from = co_await decode_serial(std::exchange(step, Step{}));
    if (stop_) break;
    // 2. <Para>, and the prefix <Branch> T ":" of every branch.
    std::vector<Tokens> prefixes;
    for (const Tokens& T : grammar_.titles())
      prefixes.push_back(branch_prefix(T, tokens_, context_.tokenizer));
    if ((stop_ = open_block(prefixes, from, step))) break;
    // 3. Parallel, until all branches have reached </Branch>.
    add_block(co_await decode_block(std::move(prefixes), std::exchange(step, Step{})));
    // 4. </Para>, and continue.
    if ((stop_ = no_return())) break;
    step.add(tokens_.para_end, layout_.main(), Origin::forced);
    ++counters().generated;
    grammar_.take(tokens_.para_end);
  }
  co_return finish();
}

/// Decodes the main branch, starting with `step`, until <Para> or the end of the answer (stop_).
/// Returns the row that the last token was chosen from; -1 under an oracle.
Task<int> Hybrid::decode_serial(Step step) {
  const size_t stage = y_.bytes.size();
  const int stream = streams_++;
  for (;;) {
    const int last = step.size() - 1;
    step.want(last, sampling_, grammar_.banned(), grammar_.allowed());
    const StepResult seen = co_await sequence_.forward(std::exchange(step, Step{}));
    const int row = seen.first_row + last;
    const Token token = choose(x_, seen.outputs[0], row, y_, stream).token;
    const bool block = grammar_.begins_block(token);
    grammar_.take(token);
    if (grammar_.in_text()) {
      y_.bytes += bytes(token);
      counters().text += !contains(eos_, token);
      if (rule_.reader) rule_.reader(y_.bytes);
    }
    const int from = x_.forced() ? -1 : row;
    stop_ = serial_end(token, std::string_view(y_.bytes).substr(stage), block);
    if (stop_ || block) co_return from;
    step.add(token, layout_.main(), Origin::chosen, from);
  }
}

/// Opens a block with these prefixes after <Para>, and adds <Para>, which was chosen from row
/// `from` (-1: forced), to `step`. Returns the reason if the block cannot begin: each branch needs
/// room for one choice, in the place where </Branch> will be.
std::optional<Stop> Hybrid::open_block(const std::vector<Tokens>& prefixes, int from, Step& step) {
  const int branches = static_cast<int>(prefixes.size());
  if (options_.shared && branches > AspdLayout::kMostSharedBranches) return Stop::limit;
  step.add(tokens_.para, layout_.main(), Origin::chosen, from);
  layout_.open(branches);
  std::int64_t forced = 0;
  for (int k = 0; k < branches; ++k) {
    const int length = static_cast<int>(prefixes[static_cast<size_t>(k)].size());
    if (length + 1 > options_.max_steps) return Stop::limit;
    if (layout_.branch(k, length).position >= positions()) return Stop::context;
    forced += length;
  }
  if (counters().chosen + branches > rule_.limit) return Stop::limit;
  counters().generated += forced;
  counters().branch_tokens += forced;
  return std::nullopt;
}

/// Decodes all branches of the open block in parallel, from <Para>, which `step` contains, to the
/// last </Branch>.
Task<std::vector<Branch>> Hybrid::decode_block(std::vector<Tokens> prefixes, Step step) {
  const std::int64_t begin_ns = context_.engine.clock().now_ns();
  const int first_row = sequence_.rows_fed() + step.size();
  std::vector<Task<Branch>> tasks;
  for (size_t k = 0; k < prefixes.size(); ++k)
    tasks.push_back(decode_branch(static_cast<int>(k), std::move(prefixes[k]),
                                  std::exchange(step, Step{}), branch_chooser()));
  std::vector<Branch> branches = co_await all(std::move(tasks));
  std::vector<int> lengths;
  for (const Branch& branch : branches) lengths.push_back(static_cast<int>(branch.fed.size()));
  layout_.close(lengths);
  if (layout_.moves() && !no_return()) {
    sequence_.keep(first_row, {});
    co_await sequence_.forward(moved(branches));
  }
  ++counters().groups;
  counters().group_branches += std::ssize(branches);
  counters().parallel_ns += context_.engine.clock().now_ns() - begin_ns;
  co_return branches;
}

/// Decodes branch k: its prefix, then choices until it ends. `step` is computed together with the
/// first token of the prefix.
Task<Branch> Hybrid::decode_branch(int k, Tokens prefix, Step step, Chooser chooser) {
  Branch branch;
  const int stream = streams_++;
  const auto feed = [&](Token token, Origin origin, int from) {
    step.add(token, layout_.branch(k, static_cast<int>(branch.fed.size())), origin, from);
    branch.fed.push_back(token);
  };
  for (size_t i = 0; i < prefix.size(); ++i) {
    feed(prefix[i], Origin::forced, -1);
    if (!options_.shared || i + 1 == prefix.size()) continue;
    co_await sequence_.forward(std::exchange(step, Step{}));
    if (spent()) co_return branch;  // branches with shorter titles have used up the limit
  }
  for (;;) {
    const int last = step.size() - 1;
    step.want(last, sampling_, grammar_.banned_in_branch());
    const StepResult seen = co_await sequence_.forward(std::exchange(step, Step{}));
    if (spent()) co_return branch;  // another branch has used up the limit
    if (chooser.used_up()) {        // the recording ends here
      feed(tokens_.branch_end, Origin::forced, -1);
      break;
    }
    const int row = seen.first_row + last;
    const Token token = choose(chooser, seen.outputs[0], row, branch.y, stream).token;
    ++counters().branch_tokens;
    const auto end = branch_end(token, k, static_cast<int>(branch.fed.size()) + 1);
    if (end != Stop::terminator && end != Stop::eos) {
      branch.y.bytes += bytes(token);
      ++counters().text;
    }
    if (spent()) co_return branch;
    const bool chosen = !end || *end == Stop::terminator;
    feed(end ? tokens_.branch_end : token, chosen ? Origin::chosen : Origin::forced,
         chosen && !chooser.forced() ? row : -1);
    if (end) break;
  }
  co_await sequence_.forward(std::move(step));
  co_return branch;
}

/// Same-Re: the rows of a closed block, to be computed again at their places in the flattened text.
Step Hybrid::moved(const std::vector<Branch>& branches) {
  Step step;
  for (size_t k = 0; k < branches.size(); ++k)
    for (size_t r = 0; r < branches[k].fed.size(); ++r)
      step.add(branches[k].fed[r], layout_.copy(static_cast<int>(k), static_cast<int>(r)),
               Origin::forced);
  return step;
}

/// Appends a block: ids in flattened order, and texts without prefixes, joined by line breaks. The
/// paper's prefix is "<Branch>T: ", so a space at the beginning of a branch belongs to the prefix.
void Hybrid::add_block(const std::vector<Branch>& branches) {
  for (size_t k = 0; k < branches.size(); ++k) {
    const Stream& of = branches[k].y;
    y_.bytes += (k ? "\n" : "") + of.bytes.substr(of.bytes.starts_with(' '));
    y_.append(of);
    branch_lengths_.push_back(std::ssize(of.tokens));
  }
  if (rule_.reader) rule_.reader(y_.bytes);
}

Stream Hybrid::finish() {
  if (!context_.tokenizer) y_.bytes.clear();  // it only has line breaks between branches
  if (branch_lengths_.empty()) branch_lengths_.push_back(std::ssize(y_.tokens));
  counters().branch_lengths = branch_lengths_;
  counters().branches = std::ssize(branch_lengths_);
  // the last passes may have only computed </Branch>
  y_.passes.resize(static_cast<size_t>(counters().forwards));
  y_.written.emplace();  // control tokens are between values, so no field has its own ids
  y_.stop = *stop_ == Stop::limit && context_.interrupted() ? Stop::interrupted : *stop_;
  y_.counters = sequence_.finish();
  return std::move(y_);
}

// --- Ends ---

/// Why the main branch ends with `token`; none: it does not. `text`: its text since the last block.
std::optional<Stop> Hybrid::serial_end(Token token, std::string_view text, bool block) {
  if (contains(eos_, token)) return Stop::eos;
  if (!rule_.until.empty() && text.find(rule_.until) != std::string_view::npos)
    return Stop::terminator;
  if (spent() || (x_.used_up() && !(block && branches_recorded()))) return Stop::limit;
  if (layout_.next_position() >= positions()) return Stop::context;
  return std::nullopt;
}

/// Why branch k ends with `token`, which would be its `length`-th token; none: it does not.
std::optional<Stop> Hybrid::branch_end(Token token, int k, int length) {
  if (token == tokens_.branch_end) return Stop::terminator;
  if (contains(eos_, token)) return Stop::eos;
  if (length >= options_.max_steps || spent()) return Stop::limit;
  if (layout_.branch(k, length).position >= positions()) return Stop::context;
  return std::nullopt;
}

/// Why the main branch cannot continue after a block; none: it can. It needs room for one choice.
std::optional<Stop> Hybrid::no_return() {
  if (spent() || x_.used_up()) return Stop::limit;
  if (layout_.next_position() >= positions()) return Stop::context;
  return std::nullopt;
}

// --- Choices ---

/// Makes the choice from `row`, and records it in `y`, which is stream `stream` of the sequence,
/// and in the counts of its forward pass.
Choice Hybrid::choose(Chooser& chooser, const RowLogits& logits, int row, Stream& y, int stream) {
  const Choice choice = chooser.choose(logits);
  Writer(sequence_, chooser.forced(), stream).record(choice, row, y);
  ++counters().generated;
  y_.passes.resize(static_cast<size_t>(counters().forwards));
  ++y_.passes.back();
  return choice;
}

/// The chooser for the next branch. If an oracle has no ids for the branch, it is closed at once.
Chooser Hybrid::branch_chooser() {
  if (!oracle_) return Chooser(*chance_);
  const size_t next = begun_++;
  return Chooser(*chance_, next < oracle_->branches.size() ? oracle_->branches[next]
                                                           : Tokens{tokens_.branch_end});
}

Hybrid::Hybrid(const StreamRequest& request, const AspdOptions& options,
               const DecoderContext& context)
    : context_(context),
      options_(options),
      sampling_(request.sampling),
      rule_(request.rule),
      tokens_(find_aspd_tokens(options.tokens, context.tokenizer,
                               context.engine.model().config().vocab_size)),
      eos_(context.eos()),
      oracle_(request.oracle
                  ? std::optional(split_streams(request.oracles->streams, request.index, tokens_,
                                                eos_, request.oracles->branch_lengths))
                  : std::nullopt),
      chance_(context.chance(request.seed)),
      sequence_(context.engine.open(request.name, "aspd")),
      layout_(options.positions, options.shared,
              [this](const std::vector<int>& sees) { return sequence_.add_segment(sees); }),
      grammar_(tokens_),
      x_(*chance_, oracle_ ? std::optional(oracle_->main) : std::nullopt) {}

class Aspd final : public FreeRunningDecoder {
 public:
  Aspd(const Options& options, AspdOptions chosen)
      : FreeRunningDecoder(options), options_(std::move(chosen)) {}

  std::string needs(const Tokenizer* tokenizer, const ModelConfig& config) const override {
    const AspdTokens t = find_aspd_tokens(options_.tokens, tokenizer, config.vocab_size);
    return names_with_ids({"<Title>", "</Title>", "<Branch>", "</Branch>", "<Para>", "</Para>"},
                          {t.title, t.title_end, t.branch, t.branch_end, t.para, t.para_end});
  }
  Task<Stream> stream(StreamRequest request, const DecoderContext& context) const override {
    check_prompt(request.name, request.prompt.size(), context.engine.model().config());
    Hybrid response(request, options_, context);
    co_return co_await response.respond(request.prompt);
  }

 private:
  AspdOptions options_;
};

std::unique_ptr<Decoder> make(Options options) {
  const AspdOptions chosen{.positions = parse_aspd_positions(options.text("positions")),
                           .shared = options.text("mask") == "shared",
                           .max_steps = options.whole("max_steps"),
                           .tokens = options.text("tokens")};
  options.set("positions", name(chosen.positions));
  return std::make_unique<Aspd>(options, chosen);
}

}  // namespace

DecoderEntry aspd_entry() {
  return {.name = "aspd",
          .source = "Chen et al., arXiv:2508.08895",
          .options = {ask_option(),
                      Option::text("positions", "same-seq",
                                   "positions of branches: same-seq, same-max, same-re or fix-N"),
                      Option::one_of("mask", {"independent", "shared"},
                                     "shared: the branches of a block see each other"),
                      // <Branch>, a title, </Branch>
                      Option::whole("max_steps", AspdOptions{}.max_steps, {3, 1 << 20},
                                    "limit of tokens of a branch, including prefix and </Branch>"),
                      Option::text("tokens", "",
                                   "title, /title, branch, /branch, para, /para as ids or texts, "
                                   "separated by commas; empty: found by their usual names")},
          .make = make,
          .oracles = {"recorded"},
          .trained = true,
          .own_columns = aspd_columns(),
          .formats = aspd_formats(),
          .training_options = aspd_training_options()};
}

}  // namespace pardec
