// Auto-parallel auto-regressive decoding (APAR).
//
// Idea: the network itself says where its text can be written in parallel. Where it chooses [Fork],
// its thread is cloned: the old one goes on with the next paragraph, the new one is fed [Child] and
// writes the details of the paragraph before. Threads share the text up to the [Fork], and see
// nothing of one another behind it; each live thread adds one token a forward pass; a finished one
// gives back the rows that only it has held.
//
//   prompt a0 [Fork] b0 [Fork] end                  thread 1: paragraphs
//                |         [Child] e0 e1 end        thread 3: details of b0
//                [Child] d0 d1 end                  thread 2: details of a0
//   text: a0 d0 d1 b0 e0 e1                         own, first child, next sibling
//
// With `medusa` (Medusa-APAR, section 3.1) each thread has a tree of guesses behind its last token,
// made by extra heads (apar_guesses.hpp), and adds as many of them as the network agrees with. They
// see what their thread sees. No guess is accepted behind [Fork]: there the thread is cloned, and
// both threads take their next guesses from the row of [Fork].
//
// Source: Liu et al., "APAR: LLMs Can Do Auto-Parallel Auto-Regressive Decoding", arXiv:2401.06761,
// sections 2.2 and 2.3, Algorithm 1. Letters are the paper's.
//
// Differs from the paper: caps on threads, depth and length, the ban on [Fork] right behind a
// control token and the repair of newlines come from the official code; caps can be lifted. A
// thread that is cut by its limit ends as at end of sequence. The rows of a prompt share one cache,
// where a fork copies nothing. Behind a [Fork] that is yet to be fed no tree is fed.
#include "decoders/apar/apar.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "decoders/apar/format.hpp"
#include "decoders/apar/guesses.hpp"
#include "decoders/control_tokens.hpp"
#include "decoders/free_running.hpp"
#include "decoders/writer.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

AparTokens apar_tokens(const AparOptions& options, const Tokenizer* tokenizer, int vocab_size,
                       bool trains) {
  std::vector<ControlToken> wanted = {
      {"apar.fork_token", options.fork_token, {"[Fork]", "<|fork|>", "[SplitMask]"}},
      {"apar.child_token", options.child_token, {"[Child]", "<|child|>", "[SplitSop]"}}};
  if (trains) {
    name_by_setting(wanted[0], "fork_token");
    name_by_setting(wanted[1], "child_token");
  }
  Tokens ids;
  for (const auto& token : wanted) ids.push_back(find_control_token(token, tokenizer, vocab_size));
  check_different(wanted, ids);
  return {.fork = ids[0], .child = ids[1]};
}

namespace {

/// A generation thread (the paper's sequence s), by what it fed or will feed last.
struct Thread {
  int node = 0;   ///< current_node
  int depth = 1;  ///< the prompt's thread is 1
  Token last_token = 0;
  int position = 0;                ///< of last_token
  int row = -1;                    ///< of last_token, once it was fed
  Origin origin = Origin::prompt;  ///< of last_token
  std::string bytes;               ///< the text that it has written
  std::int64_t chosen = 0;
  std::optional<Stop> stop;  ///< set: finished
  Guesses guesses;           ///< behind last_token
  int heads_row = -1;        ///< the row whose heads make the next ones
};

/// The sequence group G of one prompt, with the tree r that it writes.
class Group {
 public:
  Group(Sequence sequence, const AparOptions& options, const AparTokens& control,
        const StreamRequest& request, Chooser chooser, const DecoderContext& context)
      : sequence_(std::move(sequence)),
        options_(options),
        control_(control),
        guesser_(options.medusa, control.child, sequence_),
        rule_(ends_with_oracle(request)),
        sampling_(request.sampling),
        chooser_(std::move(chooser)),
        context_(context),
        eos_(context.eos()) {}

  Step prompt(const Tokens& p);
  void apar_decode(const StepResult& theta);
  bool is_finished() const;
  bool guesses() const { return guesser_.guesses(); }
  std::vector<OutputRequest> ask_heads(const StepResult& theta) const;
  void guess(std::span<const RowLogits> heads);
  Step next();
  Sequence& sequence() { return sequence_; }
  Stream result();

 private:
  void advance(size_t s, std::span<const RowLogits> rows);
  void keep_guess(Thread& s, int row);
  int open_node(const std::vector<int>& ancestors);
  void fork(size_t s);
  void append_token(Thread& s, Token x);
  bool spent() const;
  std::optional<Stop> end_of(const Thread& s) const;
  bool ends_sequence(Token x) const;
  void release_cache(Thread& s, Stop stop);
  std::vector<int> path(const Thread& s) const;
  std::vector<bool> may_fork() const;
  std::vector<Token> bans(Token last, bool may_fork) const;
  int alive() const;
  int room(const Thread& s) const;

  Sequence sequence_;
  AparOptions options_;
  AparTokens control_;
  Guesser guesser_;
  StopRule rule_;
  Sampling sampling_;
  Chooser chooser_;
  const DecoderContext& context_;
  std::vector<Token> eos_;

  int prompt_length_ = 0;
  ParagraphTree r_;
  Stream stream_;
  std::vector<Thread> threads_;  // G, in order of birth
  // By node of r_:
  std::vector<int> readers_{1};            // live threads whose path it is on
  std::vector<std::vector<int>> rows_{1};  // its rows in the cache
  std::vector<int> segments_{0};
};

/// APARDECODE: every live thread chooses, once and behind each guess that turns out right.
void Group::apar_decode(const StepResult& theta) {
  const size_t snapshot = threads_.size();  // G grows below
  std::span<const RowLogits> rows = theta.outputs;
  stream_.passes.push_back(0);
  for (size_t i = 0; i < snapshot; ++i) {
    if (threads_[i].stop) continue;
    const auto count = static_cast<size_t>(1 + threads_[i].guesses.count());
    advance(i, rows.first(count));
    rows = rows.subspan(count);
  }
  if (!spent()) return;
  for (Thread& s : threads_)
    if (!s.stop) release_cache(s, Stop::limit);
}

/// All ids that may be chosen for the answer are there, or nobody wants more.
bool Group::spent() const {
  return std::ssize(stream_.tokens) >= rule_.limit || context_.interrupted();
}

/// The rows of thread `i`'s last token and of the guesses behind it choose.
void Group::advance(size_t i, std::span<const RowLogits> rows) {
  Guesses guesses = std::exchange(threads_[i].guesses, {});
  const Writer writer(sequence_, chooser_.forced(), static_cast<int>(i));
  for (const RowLogits* row = &rows.front();;) {  // the last token's; then a guess's
    const bool enough = options_.max_total > 0 && threads_.size() > 1 &&
                        std::ssize(stream_.tokens) >= options_.max_total;
    if (enough || spent() || chooser_.used_up()) {
      release_cache(threads_[i], Stop::limit);
      break;
    }
    const Choice x = chooser_.choose(*row);
    ++stream_.passes.back();
    threads_[i].heads_row = threads_[i].row;
    const bool forks = threads_[i].last_token == control_.fork;
    if (forks) fork(i);
    Thread& s = threads_[i];
    const auto right = forks ? std::nullopt : guesses.accept(x.token);
    if (!right) writer.reject(s.row, guesses.first_line());
    writer.record(x, s.row, stream_, right.has_value());
    append_token(s, x.token);
    if (right) keep_guess(s, guesses.row(*right));
    const auto stop = end_of(s);
    if (stop) release_cache(s, *stop);
    if (stop || !right) break;
    row = &rows[static_cast<size_t>(1 + *right)];
  }
  guesses.settle(sequence_);
}

/// The thread's last token was fed already, as a guess.
void Group::keep_guess(Thread& s, int row) {
  s.row = row;
  rows_[static_cast<size_t>(s.node)].push_back(row);
  sequence_.relabel(row, {.position = s.position,
                          .order = s.position,
                          .segment = segments_[static_cast<size_t>(s.node)],
                          .rank = 0});
}

/// A segment for a new node.
int Group::open_node(const std::vector<int>& ancestors) {
  std::vector<int> sees;
  for (const int a : ancestors) sees.push_back(segments_[static_cast<size_t>(a)]);
  const int own = sequence_.add_segment(sees);
  sees.push_back(own);
  guesser_.open_node(sees);
  return own;
}

/// s' <- s; s'.append_token([Child]); two new nodes, which become the threads' current ones.
void Group::fork(size_t s) {
  Thread child = threads_[s];
  const auto [n, n_child] = r_.fork(threads_[s].node);
  const std::vector<int> ancestors = r_.ancestors(n);
  for (const int a : ancestors) ++readers_[static_cast<size_t>(a)];
  for (const int made [[maybe_unused]] : {n, n_child}) {
    segments_.push_back(open_node(ancestors));
    readers_.push_back(1);
    rows_.emplace_back();
  }
  threads_[s].node = n;
  child.node = n_child;
  child.depth += 1;
  child.last_token = control_.child;
  child.position += 1;
  child.row = -1;
  child.origin = Origin::forced;
  child.bytes.clear();
  child.chosen = 0;
  threads_.push_back(std::move(child));
  if (const auto stop = end_of(threads_.back())) release_cache(threads_.back(), *stop);
}

void Group::append_token(Thread& s, Token x) {
  s.last_token = x;
  s.position += 1;
  s.origin = Origin::chosen;
  ++s.chosen;
  if (ends_sequence(x) || x == control_.fork || x == control_.child) return;
  Counters& counters = sequence_.counters();
  ++counters.text;
  counters.text_attended += s.position;
  ParagraphNode& node = r_.node(s.node);
  node.tokens.push_back(x);
  node.choices.push_back(static_cast<int>(stream_.tokens.size()) - 1);
  if (context_.tokenizer) s.bytes += context_.tokenizer->bytes(x);
}

bool Group::ends_sequence(Token x) const { return contains(eos_, x); }

/// Why s is finished with its last token, if it is.
std::optional<Stop> Group::end_of(const Thread& s) const {
  if (ends_sequence(s.last_token)) return Stop::eos;
  if (!rule_.until.empty() && s.bytes.find(rule_.until) != std::string::npos)
    return Stop::terminator;
  if (spent() || chooser_.used_up()) return Stop::limit;
  if (s.position >= context_.engine.model().config().positions()) return Stop::context;
  return std::nullopt;
}

/// s is finished: rows that no live thread reads any more leave the cache.
void Group::release_cache(Thread& s, Stop stop) {
  s.stop = stop;
  for (const int node : path(s))
    if (--readers_[static_cast<size_t>(node)] == 0 && node > 0)
      sequence_.release(std::exchange(rows_[static_cast<size_t>(node)], {}));
}

std::vector<int> Group::path(const Thread& s) const {
  std::vector<int> nodes = r_.ancestors(s.node);
  nodes.insert(nodes.begin(), s.node);
  return nodes;
}

bool Group::is_finished() const { return alive() == 0; }

int Group::alive() const {
  return static_cast<int>(
      std::count_if(threads_.begin(), threads_.end(), [](const Thread& s) { return !s.stop; }));
}

/// Which live threads may choose [Fork] next: not where they have just done so, not the deepest,
/// and not so many of the youngest that all others could fork now without there being too many
/// threads. (No thread forks twice in one pass.)
std::vector<bool> Group::may_fork() const {
  int room = options_.max_threads - alive();
  for (const Thread& s : threads_) room -= !s.stop && s.last_token == control_.fork;
  std::vector<bool> may;
  for (const Thread& s : threads_) {
    if (s.stop) continue;
    const bool begins = s.last_token == control_.child && s.guesses.count() == 0;
    may.push_back(s.last_token != control_.fork && !begins &&
                  (options_.max_depth == 0 || s.depth < options_.max_depth) &&
                  (options_.max_threads == 0 || room-- > 0));
  }
  return may;
}

/// Ids that must not be chosen behind `last`: [Child] ever; [Fork] right behind a control token
/// too, and where the thread may not fork.
std::vector<Token> Group::bans(Token last, bool may_fork) const {
  std::vector<Token> ids{control_.child};
  if (!may_fork || last == control_.fork || last == control_.child) ids.push_back(control_.fork);
  return ids;
}

/// How many guesses behind s's last token could still enter, one more token behind them. None
/// behind [Fork]: acceptance ends there.
int Group::room(const Thread& s) const {
  if (s.last_token == control_.fork) return 0;
  const int left = rule_.limit - static_cast<int>(stream_.tokens.size());
  return std::max(
      0, std::min(left - 1, context_.engine.model().config().positions() - s.position - 1));
}

/// What is wanted of the heads at the rows of the pass `theta`, thread by thread.
std::vector<OutputRequest> Group::ask_heads(const StepResult& theta) const {
  std::vector<OutputRequest> all;
  for (const Thread& s : threads_) {
    if (s.stop) continue;
    for (OutputRequest& request : guesser_.ask(s.heads_row - theta.first_row, room(s)))
      all.push_back(std::move(request));
  }
  return all;
}

/// The answers become the threads' guesses.
void Group::guess(std::span<const RowLogits> heads) {
  for (Thread& s : threads_)
    if (!s.stop) s.guesses = guesser_.make(heads, room(s));
}

/// G = {p}: all of the prompt, in the root's segment.
Step Group::prompt(const Tokens& p) {
  Step step;
  for (const Token token : p)
    step.add(token, {.position = step.size(), .order = step.size(), .segment = 0, .rank = 0},
             Origin::prompt);
  prompt_length_ = step.size();
  Thread s;
  s.position = prompt_length_ - 1;
  s.row = prompt_length_ - 1;
  s.last_token = -1;  // a control token in the prompt forks nothing
  threads_.push_back(std::move(s));
  guesser_.open_node({0});
  step.want(prompt_length_ - 1, sampling_, bans(-1, may_fork().front()));
  step.later = guesses();
  return step;
}

/// The last token of every live thread, each with the guesses behind it.
Step Group::next() {
  Step step;
  step.later = guesses();
  step.streams = 0;
  const std::vector<bool> forks = may_fork();
  auto may = forks.begin();
  const int first_row = sequence_.rows_fed();
  for (Thread& s : threads_) {
    if (s.stop) continue;
    ++step.streams;
    const auto node = static_cast<size_t>(s.node);
    const int from = s.origin == Origin::chosen && !chooser_.forced() ? s.row : -1;
    const int at = step.add(
        s.last_token,
        {.position = s.position, .order = s.position, .segment = segments_[node], .rank = 0},
        s.origin, from);
    s.row = first_row + at;
    guesser_.feed(step, s.guesses, s.position, s.row, s.node);
    for (int row = at; row < step.size(); ++row)
      step.want(row, sampling_, bans(step.tokens[static_cast<size_t>(row)], *may));
    ++may;
    rows_[node].push_back(s.row);
  }
  return step;
}

Stream Group::result() {
  stream_.stop = *threads_.front().stop;
  Counters& counters = sequence_.counters();
  for (const Thread& s : threads_) {
    counters.count_branch(s.chosen);
    if (*s.stop == Stop::limit || *s.stop == Stop::context) stream_.stop = *s.stop;
  }
  if (stream_.stop == Stop::limit && context_.interrupted()) stream_.stop = Stop::interrupted;
  if (context_.tokenizer) {
    RestoredText text = restore(r_, *context_.tokenizer);
    auto& written = stream_.written.emplace();
    written.ends = std::move(text.ends);
    for (const int node : r_.restore_order())
      for (const int choice : r_.node(node).choices)
        written.choices.push_back(static_cast<size_t>(choice));
    stream_.bytes = std::move(text.bytes);
  }
  stream_.counters = sequence_.finish();
  return std::move(stream_);
}

/// `none`: nothing is guessed.
MedusaTree tree_of(const std::string& name) {
  return name == "none" ? MedusaTree{} : parse_medusa_tree(name, "apar.medusa");
}

class Apar final : public FreeRunningDecoder {
 public:
  explicit Apar(const Options& options)
      : FreeRunningDecoder(options),
        options_{.max_threads = options.whole("max_threads"),
                 .max_depth = options.whole("max_depth"),
                 .max_total = options.whole("max_total"),
                 .fork_token = options.text("fork_token"),
                 .child_token = options.text("child_token"),
                 .medusa = tree_of(options.text("medusa"))} {}

  std::string needs(const Tokenizer* tokenizer, const ModelConfig& config) const override {
    const std::string heads = needed_heads(options_.medusa, "apar.medusa", config);
    const AparTokens found = apar_tokens(options_, tokenizer, config.vocab_size);
    return told({"[Fork]", "[Child]"}, {found.fork, found.child}) +
           (heads.empty() ? "" : ", " + heads);
  }
  std::string undriven(std::string_view /*oracle*/) const override {
    return options_.medusa.depth() > 0
               ? "chooses in another order than the recording with apar.medusa"
               : "";
  }
  Task<Stream> stream(StreamRequest request, const DecoderContext& context) const override;

 private:
  AparOptions options_;
};

/// Algorithm 1.
Task<Stream> Apar::stream(StreamRequest request, const DecoderContext& context) const {
  const ModelConfig& config = context.engine.model().config();
  check_prompt(request.name, request.prompt.size(), config);
  const AparTokens control = apar_tokens(options_, context.tokenizer, config.vocab_size);
  check(context);
  if (options_.medusa.depth() > 0 && request.oracle)
    throw std::logic_error("apar: an oracle with apar.medusa, expected it to be refused before");
  const auto chance = context.chance(request.seed);
  Group G(context.engine.open(request.name, "apar"), options_, control, request,
          Chooser(*chance, request.oracle), context);
  StepResult theta = co_await G.sequence().forward(G.prompt(request.prompt));
  for (;;) {
    G.apar_decode(theta);
    if (G.is_finished()) break;
    if (G.guesses()) {
      const StepResult heads = co_await G.sequence().later(theta, G.ask_heads(theta));
      G.guess(heads.outputs);
    }
    theta = co_await G.sequence().forward(G.next());
  }
  co_return G.result();  // RESTORE
}

}  // namespace

DecoderEntry apar_entry() {
  const AparOptions usual;
  return {.name = "apar",
          .source = "Liu et al., arXiv:2401.06761",
          .options = with_asking(
              {Option::whole("max_threads", usual.max_threads, {}, "alive at once; 0: no cap"),
               Option::whole("max_depth", usual.max_depth, {},
                             "of threads, the prompt's being 1; 0: no cap"),
               Option::whole("max_total", usual.max_total, {},
                             "ids chosen by all threads of one prompt, once there are several; "
                             "0: no cap"),
               Option::token("fork_token", "[Fork] by id or text; else by its usual names"),
               Option::token("child_token", "[Child] by id or text; else by its usual names"),
               Option::text("medusa", "none",
                            "tree of guesses behind each thread's last token, or none")}),
          .make = make_as<Apar>,
          .oracles = {"recorded"},
          .trained = true,
          .stack_option = "stack",
          .own_columns = apar_columns(),
          .formats = apar_formats(),
          .training_options = apar_training_options()};
}

}  // namespace pardec
