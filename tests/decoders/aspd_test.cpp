// ASPD on the engine: the worked example; replay and masks on random networks that choose control
// tokens; equality with AR on networks that choose none; bans, limits, restored text.
#include "decoders/aspd/aspd.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "src/support/clock.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"
#include "tests/support/aspd_reference.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

constexpr Token kColon = 4 + ':';

struct Names {
  AspdTokens ids;
  std::string option;
};

/// Control tokens: three special tokens of the tokenizer and three ids that the network has beyond
/// it, 393 and on, in the order of AspdTokens. Other orders give other answers.
Names names_of(const Tokens& ids = {1, 2, 3, 393, 394, 395}) {
  return {{ids[0], ids[1], ids[2], ids[3], ids[4], ids[5]},
          str(ids[0], ",", ids[1], ",", ids[2], ",", ids[3], ",", ids[4], ",", ids[5])};
}

const TinyNetwork& quiet() {
  static const TinyNetwork network("llama", 5);
  return network;
}

/// Random networks that choose control tokens often (their logits are doubled twice). Seeds and
/// orders were found by trying.
struct AspdForking {
  std::string family;
  std::uint64_t seed;
  Names names;

  TinyNetwork network(const Json& changes = Json::object()) const {
    return TinyNetwork(family, seed, changes, {1, 2, 3, 393, 394, 395, 1, 2, 3, 393, 394, 395});
  }
};

const std::vector<AspdForking>& forking() {
  static const std::vector<AspdForking> networks{{"llama", 7, names_of({394, 393, 3, 2, 1, 395})},
                                                 {"qwen3", 3, names_of({1, 395, 394, 393, 3, 2})},
                                                 {"qwen3", 5, names_of({394, 395, 1, 2, 3, 393})}};
  return networks;
}

/// Open prompts of several lengths.
std::vector<Request> open_requests(int count, int max_new_tokens) {
  std::vector<Request> requests;
  for (int i = 0; i < count; ++i) {
    Tokens prompt;
    for (int n = 0; n < 3 + 4 * i; ++n) prompt.push_back(40 + (n * 37 + i * 11) % 300);
    requests.push_back(open_request(str("r", i), prompt, max_new_tokens));
  }
  return requests;
}

Json options_of(const Names& names, const std::string& positions, bool shared,
                const Json& more = Json::object()) {
  Json options = {{"tokens", names.option},
                  {"positions", positions},
                  {"mask", shared ? "shared" : "independent"}};
  options.update(more);
  return options;
}

const std::vector<std::string> kSchemes{"same-seq", "same-max", "same-re", "fix-2", "fix-32"};

/// u0 u1 for a prompt, titles a and b, text x0 x1, y0 y1 and z0.
constexpr Token kU0 = 4 + 'u', kU1 = 4 + 'v', kA = 4 + 'a', kB = 4 + 'b', kX0 = 4 + 'x',
                kX1 = 4 + 'X', kY0 = 4 + 'y', kY1 = 4 + 'Y', kZ0 = 4 + 'z';

Tokens worked_answer(const AspdTokens& t) {
  return {t.title, kA,  t.title_end,  t.title, kB,  t.title_end,  t.para,
          kX0,     kX1, t.branch_end, kY0,     kY1, t.branch_end, kZ0};
}

Ran run_one(const TinyNetwork& network, Model& model, const Json& options, const Request& request) {
  return run(model, network.tokenizer(), *make_decoder("aspd", options), {request}, 1, true);
}

/// What each row of a trace is, read only from its tokens and steps, and the case that the rows
/// make.
struct Read {
  AspdCase c;
  std::vector<AspdToken> what;
};

Read read_trace(const Trace& trace, const AspdTokens& t, const AspdPositions& positions,
                bool shared) {
  Read read;
  read.c.positions = positions;
  read.c.shared = shared;
  std::vector<Tokens> titles;
  Tokens title;
  bool in_title = false, titled = false;
  int time = 0, g = 0, serial = 0;
  const size_t rows = trace.tokens.size();
  const int prompt = static_cast<int>(std::count(trace.step.begin(), trace.step.end(), 0));
  for (size_t i = 0; i < rows;) {
    const Token token = trace.tokens[i];
    read.what.push_back({0, g, serial++, time++});
    ++i;
    if (static_cast<int>(i) <= prompt) continue;
    const bool opens = token == t.para && titled && !in_title;
    if (in_title && token == t.title_end) {
      if (std::find(titles.begin(), titles.end(), title) == titles.end()) titles.push_back(title);
      in_title = false;
    } else if (in_title) {
      title.push_back(token);
    } else if (token == t.title) {
      in_title = titled = true;
      title.clear();
    }
    if (!opens) continue;
    AspdCase::Block block;
    block.serial = serial;
    block.lengths.assign(titles.size(), 0);
    for (const Tokens& of_part : titles)
      block.prefix.push_back(2 + static_cast<int>(of_part.size()));
    ++g;
    std::vector<size_t> live(titles.size());
    for (size_t k = 0; k < live.size(); ++k) live[k] = k;
    const auto take = [&](size_t k) {
      const int r = block.lengths[k]++;
      read.what.push_back({static_cast<int>(k) + 1, g, r, time + r});
      return trace.tokens[i++] == t.branch_end;
    };
    // Its first pass: all prefixes, or with the shared mask the first token of each prefix.
    for (const size_t k : live)
      for (int n = shared ? 1 : block.prefix[k]; n > 0; --n) take(k);
    while (!live.empty() && i < rows) {
      std::vector<size_t> stay;
      for (const size_t k : live)  // an answer that is cut short computes only the first of them
        if (i < rows && !take(k)) stay.push_back(k);
      live = stay;
    }
    if (positions.scheme == AspdScheme::same_re && i < rows)
      for (size_t k = 0; k < titles.size(); ++k)
        for (int r = 0; r < block.lengths[k]; ++r, ++i)
          read.what.push_back({static_cast<int>(k) + 1, g, r, time + r, true});
    time += *std::max_element(block.lengths.begin(), block.lengths.end());
    read.c.blocks.push_back(block);
    ++g;
    serial = 0;
    titles.clear();
    titled = false;
  }
  read.c.tail = serial;
  return read;
}

/// Positions and visible rows of a trace against the paper's formulas.
void check_against_formulas(const Trace& trace, const Read& read) {
  REQUIRE(read.what.size() == trace.tokens.size());
  for (size_t i = 0; i < read.what.size(); ++i) {
    INFO(trace.request << " row " << i << ", " << read.c.text());
    CHECK(trace.position[i] == position(read.c, read.what[i]));
    std::vector<int> seen;
    for (size_t j = 0; j < read.what.size(); ++j)
      if (trace.step[j] <= trace.step[i] && attends(read.c, read.what[i], read.what[j]))
        seen.push_back(static_cast<int>(j));
    CHECK(trace.visible[i] == seen);
  }
}

}  // namespace

TEST_CASE("aspd worked example: rows, positions, counts and text") {
  const TinyNetwork& network = quiet();
  Model model = network.load(Dtype::fp32);
  const Names names = names_of();
  const AspdTokens& t = names.ids;
  Request request = open_request("worked", {kU0, kU1}, 100);
  request.oracle = Oracle{{worked_answer(t)}, {}};

  const Ran ran = run_one(network, model, options_of(names, "same-seq", false), request);
  const Trace& trace = ran.traces.at("worked/0/0");
  CHECK(trace.tokens == Tokens{kU0,          kU1,       t.title,     kA,     t.title_end,
                               t.title,      kB,        t.title_end, t.para, t.branch,
                               kA,           kColon,    t.branch,    kB,     kColon,
                               kX0,          kY0,       kX1,         kY1,    t.branch_end,
                               t.branch_end, t.para_end});
  CHECK(trace.position == std::vector<int>{0,  1, 2,  3,  4,  5,  6,  7,  8,  9,  10,
                                           11, 9, 10, 11, 12, 12, 13, 13, 14, 14, 21});
  check_against_formulas(trace, read_trace(trace, t, {}, false));
  const Answers& answers = ran.of();
  CHECK(answers.tokens == worked_answer(t));
  CHECK(answers.text == "xX\nyYz");
  const Counters& c = answers.counters;
  CHECK(c.generated == 21);      // A
  CHECK(c.branch_tokens == 12);  // B: DP = 12/21
  CHECK(c.groups == 1);
  CHECK(c.group_branches == 2);  // ABN = 2
  CHECK(c.branch_lengths == std::vector<std::int64_t>{3, 3});
  CHECK(c.chosen == 14);
  CHECK(c.forced == 7);  // two prefixes of three, </Para>
  CHECK(c.text == 5);
  CHECK(c.fed == 22);  // z0 is chosen, and not computed
  CHECK(c.cached_peak == 22);
  CHECK(c.parallel_ns > 0);
  CHECK(c.parallel_ns < c.decode_ns);
  // Prefill, the serial tokens but <Para> and z0, <Para> with the prefixes, x y twice, </Branch>,
  // </Para>.
  CHECK(c.forwards == 1 + 6 + 1 + 3 + 1);

  // The shared mask computes prefixes token by token; Same-Re computes the block once more.
  const Counters shared =
      run_one(network, model, options_of(names, "same-seq", true), request).of().counters;
  CHECK(shared.forwards == c.forwards + 2);
  CHECK(shared.generated == 21);
  const Counters moved =
      run_one(network, model, options_of(names, "same-re", false), request).of().counters;
  CHECK(moved.forwards == c.forwards + 1);
  CHECK(moved.fed == c.fed + 12);
  CHECK(moved.scratch == 12);
  CHECK(moved.generated == 21);
  CHECK(moved.branch_tokens == 12);
  CHECK(moved.cached_peak == 22);
}

TEST_CASE("aspd: random networks fork, and replay under the paper's masks makes every choice") {
  int choices = 0, groups = 0, second_rounds = 0, several = 0, ended_in_branch = 0;
  for (const AspdForking& forks : forking()) {
    const TinyNetwork network = forks.network();
    for (const Dtype dtype : {Dtype::fp32, Dtype::fp64}) {
      const double tolerance =
          dtype == Dtype::fp64 ? 4e-4 : 1e-3;  // conformance_test.cpp; head times 4
      Model model = network.load(dtype);
      for (const std::string& scheme : kSchemes)
        for (const bool shared : {false, true}) {
          const Json options = options_of(forks.names, scheme, shared, {{"max_steps", 9}});
          const auto decoder = make_decoder("aspd", options);
          const std::vector<Request> requests = open_requests(4, 60);
          const Ran ran = run(model, network.tokenizer(), *decoder, requests, 4, true);
          for (size_t i = 0; i < requests.size(); ++i) {
            INFO(forks.family << " " << name(dtype) << " " << options.dump() << " request " << i);
            const Answers& answers = ran.of(i);
            const Trace& trace = ran.traces.at(str("r", i, "/0/0"));
            check_against_formulas(
                trace, read_trace(trace, forks.names.ids, parse_aspd_positions(scheme), shared));
            const Replay again = replay(network.slow(), trace, tolerance);
            CHECK(again.wrong == std::vector<std::string>{});
            CHECK(std::ssize(answers.tokens) == std::ssize(trace.emitted));
            choices += again.choices;
            const Counters& c = answers.counters;
            groups += static_cast<int>(c.groups);
            second_rounds += c.groups > 1;
            several += c.groups > 0 && std::ssize(c.branch_lengths) > c.groups;
            CHECK(c.chosen <= 60);
            CHECK(c.branch_tokens < c.generated);
            CHECK(c.chosen == std::ssize(answers.tokens));
            ended_in_branch += answers.stop == Stop::limit && c.groups > 0;
          }
        }
    }
  }
  INFO(choices << " choices, " << groups << " groups");
  CHECK(choices > 2000);
  CHECK(groups > 100);
  CHECK(second_rounds > 20);
  CHECK(several > 20);
  CHECK(ended_in_branch > 0);
}

namespace {

/// Forward passes that the layout alone requires: the prompt, the main tokens one by one, and for
/// each block <Para> with the prefixes, then the longest branch; with Same-Re once more.
int closed_formula(const Read& read, int prompt) {
  int passes = 1 - prompt + read.c.tail;
  for (const AspdCase::Block& block : read.c.blocks) {
    int longest = 0;
    for (size_t k = 0; k < block.lengths.size(); ++k)
      longest = std::max(longest, block.lengths[k] - (read.c.shared ? 1 : block.prefix[k]));
    passes += block.serial + longest;
  }
  for (const AspdToken& token : read.what) passes += token.moved && token.b == 1 && token.r == 0;
  return passes;
}

/// Ids that the grammar forbids after `before` (the main branch's tokens so far after the prompt),
/// computed a second time in a slow way. None if a title has just ended, and only <Title> or <Para>
/// may follow.
std::optional<std::set<Token>> slow_bans(const Tokens& before, const AspdTokens& t) {
  bool in_title = false, first_in_title = false, title_closed = false;
  for (const Token token : before) {
    title_closed = in_title && token == t.title_end;
    first_in_title = !in_title && token == t.title;
    in_title = (in_title && token != t.title_end) || first_in_title;
  }
  if (title_closed) return std::nullopt;
  std::set<Token> ids{t.para_end, t.branch, t.branch_end};  // serial: never
  if (in_title) {
    ids.insert({t.title, t.para});
    if (first_in_title) ids.insert(t.title_end);
  } else {
    ids.insert({t.title_end, t.para});
    if (!before.empty() && before.back() == t.para_end) ids.insert(t.title);
  }
  return ids;
}

void check_same(const Counters& one, const Counters& two) {
  CHECK(one.prompt == two.prompt);
  CHECK(one.chosen == two.chosen);
  CHECK(one.forced == two.forced);
  CHECK(one.fed == two.fed);
  CHECK(one.text == two.text);
  CHECK(one.forwards == two.forwards);
  CHECK(one.cached_peak == two.cached_peak);
  CHECK(one.cached_sum == two.cached_sum);
  CHECK(one.attended == two.attended);
  CHECK(one.scratch == two.scratch);
  CHECK(one.branch_lengths == two.branch_lengths);
  CHECK(one.emitted == two.emitted);
}

}  // namespace

TEST_CASE("aspd: every phase bans what the grammar forbids, and the bans matter") {
  std::map<std::string, int> mattered;
  for (const AspdForking& forks : forking()) {
    const TinyNetwork network = forks.network();
    const AspdTokens& t = forks.names.ids;
    Model model = network.load(Dtype::fp64);
    const auto decoder =
        make_decoder("aspd", options_of(forks.names, "same-seq", false, {{"max_steps", 9}}));
    const Ran ran = run(model, network.tokenizer(), *decoder, open_requests(6, 60), 3, true);
    for (const auto& [sequence, trace] : ran.traces) {
      const Read read = read_trace(trace, t, {}, false);
      const auto logits = network.slow().logits(trace.tokens, trace.position, trace.visible);
      Tokens before;
      for (size_t i = 0; i < trace.tokens.size(); ++i) {
        const bool prompt = trace.step[i] == 0;
        if (read.what[i].b == 0 && !prompt) before.push_back(trace.tokens[i]);
        if (!trace.predicts[i]) continue;
        const std::set<Token> banned(trace.banned[i].begin(), trace.banned[i].end());
        const std::optional<std::set<Token>> expected =
            read.what[i].b > 0 ? std::set<Token>{t.title, t.title_end, t.para, t.para_end, t.branch}
                               : slow_bans(before, t);
        INFO(sequence << " row " << i << " token " << trace.tokens[i]);
        CHECK(banned.size() == trace.banned[i].size());
        CHECK(!banned.contains(*trace.predicts[i]));
        if (expected) {
          CHECK(banned == *expected);
          CHECK(trace.allowed[i].empty());
        } else {  // `banned` has the ids that came before the better of the two
          CHECK(trace.allowed[i] == Tokens{t.title, t.para});
          const auto of = [&](Token id) { return logits[i][static_cast<size_t>(id)]; };
          std::set<Token> before_it;
          for (Token id = 0; id < std::ssize(logits[i]); ++id)
            if (of(id) > std::max(of(t.title), of(t.para))) before_it.insert(id);
          CHECK(banned == before_it);
        }
        if (banned.contains(top_two(logits[i]).best))
          ++mattered[read.what[i].b > 0            ? "branch"
                     : before.empty()              ? "start"
                     : before.back() == t.para_end ? "after a block"
                     : before.back() == t.title    ? "after <Title>"
                     : !expected                   ? "after </Title>"
                     : banned.contains(t.title)    ? "in a title"
                                                   : "serial"];
      }
    }
  }
  for (const char* phase :
       {"branch", "after a block", "after <Title>", "after </Title>", "in a title", "serial"}) {
    INFO(phase);
    CHECK(mattered[phase] > 0);
  }
}

TEST_CASE("aspd grammar: bans and titles, phase by phase") {
  const AspdTokens t{1, 2, 3, 4, 5, 6};  // <Title> </Title> <Branch> </Branch> <Para> </Para>
  AspdGrammar grammar(t);
  const auto bans = [&] {
    std::vector<Token> ids = grammar.banned();
    std::sort(ids.begin(), ids.end());
    return ids;
  };
  using Ids = std::vector<Token>;
  CHECK(bans() == Ids{2, 3, 4, 5, 6});  // serial: <Title> may come
  CHECK(grammar.allowed().empty());
  grammar.take(9);
  CHECK(grammar.in_text());
  CHECK(bans() == Ids{2, 3, 4, 5, 6});
  CHECK(!grammar.begins_block(5));
  grammar.take(1);
  CHECK(!grammar.in_text());
  CHECK(bans() == Ids{1, 2, 3, 4, 5, 6});  // a title is not empty
  grammar.take(8);
  CHECK(bans() == Ids{1, 3, 4, 5, 6});  // it may go on or end
  CHECK(!grammar.begins_block(5));
  grammar.take(2);
  CHECK(bans().empty());
  CHECK(grammar.allowed() == Ids{1, 5});  // another title, or <Para>
  CHECK(grammar.begins_block(5));
  for (const Token token : {1, 7, 7, 2, 1, 8, 2}) grammar.take(token);
  CHECK(grammar.titles() == std::vector<Tokens>{{8}, {7, 7}});  // the second 8 is dropped
  grammar.take(5);
  grammar.take(6);
  CHECK(grammar.titles().empty());
  CHECK(bans() == Ids{1, 2, 3, 4, 5, 6});  // no <Title> as the first token after a block
  grammar.take(9);
  CHECK(bans() == Ids{2, 3, 4, 5, 6});
  Ids in_branch = grammar.banned_in_branch();
  std::sort(in_branch.begin(), in_branch.end());
  CHECK(in_branch == Ids{1, 2, 3, 5, 6});
}

TEST_CASE("aspd takes the forward passes of the closed formula") {
  int blocks = 0;
  for (const AspdForking& forks : forking()) {
    const TinyNetwork network = forks.network();
    Model model = network.load(Dtype::fp32);
    for (const std::string& scheme : kSchemes)
      for (const bool shared : {false, true}) {
        const auto decoder =
            make_decoder("aspd", options_of(forks.names, scheme, shared, {{"max_steps", 9}}));
        const Ran ran = run(model, network.tokenizer(), *decoder, open_requests(4, 60), 1, true);
        for (size_t i = 0; i < 4; ++i) {
          const Trace& trace = ran.traces.at(str("r", i, "/0/0"));
          const Read read =
              read_trace(trace, forks.names.ids, parse_aspd_positions(scheme), shared);
          const Counters& c = ran.of(i).counters;
          INFO(forks.family << " " << scheme << " " << read.c.text());
          CHECK(c.forwards == closed_formula(read, static_cast<int>(c.prompt)));
          CHECK(c.fed == std::ssize(trace.tokens));
          CHECK(std::ssize(read.c.blocks) == c.groups);
          std::int64_t emitted = 0;
          for (const auto& [tokens, count] : c.emitted) emitted += tokens * count;
          CHECK(emitted == c.chosen);
          blocks += static_cast<int>(c.groups);
        }
      }
  }
  CHECK(blocks > 100);
}

TEST_CASE("aspd equals ar if no control token is chosen") {
  int compared = 0;
  std::map<Form, int> forms;
  for (const char* family : {"llama", "qwen3"})
    for (const std::uint64_t seed : {5, 6}) {
      Json eos = Json::array();
      for (int id = 20; id < 26; ++id) eos.push_back(id);
      const TinyNetwork network(family, seed, {{"eos_token_id", eos}});
      Model model = network.load(Dtype::fp32);
      const Names names = names_of();
      for (const char* ask : {"together", "separately", "free"}) {
        const std::string way = ask == std::string("free") ? "separately" : ask;
        for (const auto& [scheme, shared] :
             {std::pair{"same-seq", false}, {"same-max", true}, {"fix-32", false}}) {
          const auto ar = make_decoder("ar", {{"ask", way}});
          const auto aspd = make_decoder("aspd", options_of(names, scheme, shared, {{"ask", way}}));
          std::vector<Request> requests = open_requests(5, 25);
          if (ask != std::string("free"))
            for (size_t i = 0; i < requests.size(); ++i) {
              Job job = random_job(str("job", i), 1, 1 + static_cast<int>(i % 3), i);
              job.limits = {.max_new_tokens = 20, .per_field = 7};
              requests[i] = make_request(job, *ar, network.tokenizer());
            }
          const Ran one = run(model, network.tokenizer(), *ar, requests, 5);
          const Ran two = run(model, network.tokenizer(), *aspd, requests, 5);
          for (size_t i = 0; i < requests.size(); ++i) {
            bool control = false;
            for (const Tokens& ids : chosen_ids(one.of(i)))
              for (const Token id : ids) control = control || names.ids.has(id);
            if (control) continue;
            INFO(family << " " << seed << " " << ask << " request " << i);
            CHECK(two.of(i).tokens == one.of(i).tokens);
            CHECK(two.of(i).text == one.of(i).text);
            CHECK(two.of(i).stop == one.of(i).stop);
            const auto left = flat(one.of(i)), right = flat(two.of(i));
            REQUIRE(left.size() == right.size());
            for (size_t f = 0; f < left.size(); ++f) {
              CHECK(right[f].text == left[f].text);
              CHECK(right[f].tokens == left[f].tokens);
              CHECK(right[f].stop == left[f].stop);
            }
            check_same(two.of(i).counters, one.of(i).counters);
            CHECK(two.of(i).counters.groups == 0);
            ++compared;
            ++forms[requests[i].form];
          }
        }
      }
    }
  CHECK(compared > 120);
  CHECK(forms.size() == 3);
  for (const auto& [form, count] : forms) CHECK(count > 20);
}

TEST_CASE("aspd: max_new_tokens ends an answer at any place, and counts the chosen tokens") {
  const TinyNetwork& network = quiet();
  Model model = network.load(Dtype::fp32);
  const Names names = names_of();
  Tokens answer = worked_answer(names.ids);
  answer.push_back(0);  // end of sequence: 15 ids are chosen, and 7 forced
  for (const std::string& scheme : kSchemes)
    for (const bool shared : {false, true}) {
      std::int64_t before = 0;
      for (int limit = 1; limit <= 24; ++limit) {
        Request request = open_request("limit", {kU0, kU1}, limit);
        request.oracle = Oracle{{answer}, {}};
        const Ran ran = run_one(network, model, options_of(names, scheme, shared), request);
        INFO(scheme << (shared ? " shared" : "") << ", at most " << limit);
        const Answers& answers = ran.of();
        const Counters& c = answers.counters;
        CHECK(c.chosen <= limit);
        CHECK(c.chosen >= before);
        before = c.chosen;
        CHECK(answers.stop == (limit < 15 ? Stop::limit : Stop::eos));
        CHECK(c.chosen == std::ssize(answers.tokens));
        if (limit >= 15) CHECK(answers.tokens == answer);
        if (limit <= 7) CHECK(answers.tokens == Tokens(answer.begin(), answer.begin() + limit));
        if (limit == 8) CHECK(c.chosen == 7);                   // not one id for each branch
        if (limit > 8 && limit < 15) CHECK(c.chosen == limit);  // from 9 to 12 inside the branches
        check_against_formulas(ran.traces.at("limit/0/0"),
                               read_trace(ran.traces.at("limit/0/0"), names.ids,
                                          parse_aspd_positions(scheme), shared));
      }
      CHECK(before == 15);
    }
}

TEST_CASE("aspd: max_steps and end of sequence close a branch, and the answer goes on") {
  const TinyNetwork& network = quiet();
  Model model = network.load(Dtype::fp32);
  const Names names = names_of();
  const AspdTokens& t = names.ids;
  const auto decode = [&](int max_steps, const Tokens& answer) {
    Request request = open_request("r", {kU0, kU1}, 100);
    request.oracle = Oracle{{answer}, {}};
    return run_one(network, model, options_of(names, "same-seq", false, {{"max_steps", max_steps}}),
                   request);
  };
  const auto fed_in_branch = [&](const Ran& ran, int b) {
    const Trace& trace = ran.traces.at("r/0/0");
    const Read read = read_trace(trace, t, {}, false);
    Tokens fed;
    for (size_t i = 0; i < read.what.size(); ++i)
      if (read.what[i].b == b) fed.push_back(trace.tokens[i]);
    return fed;
  };
  const Tokens whole{t.title, kA, t.title_end, t.title, kB, t.title_end, t.para};
  const auto with = [&](const Tokens& more) {
    Tokens answer = whole;
    answer.insert(answer.end(), more.begin(), more.end());
    return answer;
  };

  // Six tokens fit; with five the second word gives way to </Branch>, though it is in the text.
  CHECK(fed_in_branch(decode(6, worked_answer(t)), 1) ==
        Tokens{t.branch, kA, kColon, kX0, kX1, t.branch_end});
  const Ran cut = decode(5, with({kX0, kX1, t.branch_end, kY0, t.branch_end, kZ0, 0}));
  CHECK(fed_in_branch(cut, 1) == Tokens{t.branch, kA, kColon, kX0, t.branch_end});
  CHECK(fed_in_branch(cut, 2) == Tokens{t.branch, kB, kColon, kY0, t.branch_end});
  CHECK(cut.of().text == "xX\nyz");
  CHECK(cut.of().stop == Stop::eos);
  const Ran short_of = decode(4, with({kX0, t.branch_end, kY0, t.branch_end, kZ0, 0}));
  CHECK(fed_in_branch(short_of, 1) == Tokens{t.branch, kA, kColon, t.branch_end});
  CHECK(short_of.of().text.starts_with("x\ny"));
  // Not even one choice fits, so the answer ends with <Para>.
  const Ran none = decode(3, worked_answer(t));
  CHECK(none.of().tokens == whole);
  CHECK(none.of().stop == Stop::limit);
  CHECK(none.of().counters.groups == 0);

  const Ran ended = decode(2048, with({kX0, 0, kY0, kY1, t.branch_end, kZ0, 0}));
  CHECK(fed_in_branch(ended, 1) == Tokens{t.branch, kA, kColon, kX0, t.branch_end});
  CHECK(ended.of().text == "x\nyYz");
  CHECK(ended.of().stop == Stop::eos);
  CHECK(ended.of().counters.generated == 21);  // one token fewer, and the end of sequence
  CHECK(ended.of().counters.branch_tokens == 11);
}

TEST_CASE("aspd: when positions end inside a branch, or after a block, the answer ends") {
  const Names names = names_of();
  Tokens answer = worked_answer(names.ids);
  answer.push_back(0);
  // The number of positions that each scheme needs: main tokens to 8, branches, </Para>, z0.
  const std::map<std::string, int> all{
      {"same-seq", 23}, {"same-re", 23}, {"same-max", 17}, {"fix-2", 15}, {"fix-32", 75}};
  for (const int positions : {4, 9, 11, 12, 13, 14, 15, 16, 17, 22, 23, 46, 47, 74, 75}) {
    const TinyNetwork network("llama", 5, {{"max_position_embeddings", positions}});
    Model model = network.load(Dtype::fp32);
    for (const std::string& scheme : kSchemes)
      for (const bool shared : {false, true}) {
        Request request = open_request("end", {kU0, kU1}, 100);
        request.oracle = Oracle{{answer}, {}};
        const Ran ran = run_one(network, model, options_of(names, scheme, shared), request);
        INFO(scheme << (shared ? " shared" : "") << ", positions " << positions);
        REQUIRE(ran.errors[0] == "");
        const Answers& answers = ran.of();
        const Trace& trace = ran.traces.at("end/0/0");
        CHECK(*std::max_element(trace.position.begin(), trace.position.end()) < positions);
        if (scheme != "fix-2")
          CHECK(answers.stop == (positions < all.at(scheme) ? Stop::context : Stop::eos));
        if (positions <= 12) {  // a prefix, or the one choice after it, has no position left
          CHECK(answers.counters.groups == 0);
          CHECK(answers.stop == Stop::context);
        }
        if (positions >= all.at(scheme) && scheme != "fix-2") CHECK(answers.tokens == answer);
        check_against_formulas(trace,
                               read_trace(trace, names.ids, parse_aspd_positions(scheme), shared));
      }
  }
  // A prompt that does not fit at all is an error that says so.
  const TinyNetwork network("llama", 5, {{"max_position_embeddings", 4}});
  Model model = network.load(Dtype::fp32);
  const Ran ran = run_one(network, model, options_of(names, "same-seq", false),
                          open_request("long", {5, 6, 7, 8, 9}, 9));
  CHECK_THAT(ran.errors[0], Catch::Contains("context overflow: the prompt has 5 tokens"));
}

TEST_CASE("aspd: 63 branches share a mask, 64 end the answer; without sharing any number works") {
  const TinyNetwork& network = quiet();
  Model model = network.load(Dtype::fp32);
  const Names names = names_of();
  const AspdTokens& t = names.ids;
  for (const int branches : {63, 64})
    for (const bool shared : {true, false}) {
      Tokens answer;
      for (int k = 0; k < branches; ++k)
        answer.insert(answer.end(), {t.title, 100 + k, t.title_end});
      answer.push_back(t.para);
      for (int k = 0; k < branches; ++k) answer.insert(answer.end(), {200 + k, t.branch_end});
      answer.insert(answer.end(), {kZ0, 0});
      Request request = open_request("many", {kU0, kU1}, 2000);
      request.oracle = Oracle{{answer}, {}};
      const Ran ran = run_one(network, model, options_of(names, "same-seq", shared), request);
      const Answers& answers = ran.of();
      INFO(branches << (shared ? " shared" : " apart"));
      if (branches == 64 && shared) {
        CHECK(answers.stop == Stop::limit);
        CHECK(answers.tokens.back() == t.para);
        CHECK(answers.counters.groups == 0);
        continue;
      }
      CHECK(answers.stop == Stop::eos);
      CHECK(answers.tokens == answer);
      CHECK(std::ssize(answers.counters.branch_lengths) == branches);
      const Trace& trace = ran.traces.at("many/0/0");
      check_against_formulas(trace, read_trace(trace, t, {}, shared));
    }
}

TEST_CASE("aspd restores text: serial parts, branches in the order of titles, by line breaks") {
  const TinyNetwork& network = quiet();
  Model model = network.load(Dtype::fp32);
  const Names names = names_of();
  const AspdTokens& t = names.ids;
  const auto ids = [](const std::string& text) {
    Tokens out;
    for (const char c : text) out.push_back(4 + (c == ' ' ? 0 : c));
    return out;
  };
  const auto with = [&](std::initializer_list<Tokens> parts) {
    Tokens all;
    for (const Tokens& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  const Token space = network.tokenizer().encode_piece(" ", false).front();
  const Tokens one{t.title, kA, t.title_end}, two{t.title, kB, t.title_end};
  // The second branch is the shorter one. "a" is named twice, and begun once. A space after ":"
  // belongs to the prefix, a second one to the text.
  const Tokens answer = with({ids("In"),
                              one,
                              two,
                              one,
                              {t.para},
                              {space},
                              ids("long"),
                              {t.branch_end, space, space},
                              ids("x"),
                              {t.branch_end},
                              ids("mid"),
                              one,
                              {t.para},
                              ids("again"),
                              {t.branch_end},
                              ids("."),
                              {0}});
  for (const std::string& scheme : kSchemes)
    for (const bool shared : {false, true}) {
      Request request = open_request("r", {kU0, kU1}, 200);
      request.oracle = Oracle{{answer}, {}};
      const Ran ran = run_one(network, model, options_of(names, scheme, shared), request);
      const Answers& answers = ran.of();
      CHECK(answers.text == "Inlong\n xmidagain.");
      CHECK(answers.tokens == answer);
      const FieldResult& field = answers.fields.at(0).at(0);
      CHECK(field.unforced.size() == answer.size());
      CHECK(field.gaps.size() == answer.size());
      CHECK(answers.counters.groups == 2);
      CHECK(answers.counters.branch_lengths == std::vector<std::int64_t>{6, 4, 6});
      CHECK(answers.counters.text == 2 + 5 + 3 + 3 + 5 + 1);
      const Trace& trace = ran.traces.at("r/0/0");
      check_against_formulas(trace, read_trace(trace, t, parse_aspd_positions(scheme), shared));
    }
}

TEST_CASE("aspd: a recording of nonsense is accepted unchanged") {
  const TinyNetwork& network = quiet();
  Model model = network.load(Dtype::fp32);
  const Names names = names_of();
  const AspdTokens& t = names.ids;
  for (const Tokens& answer :
       {Tokens{t.para, t.para_end, t.branch, t.branch_end, t.title_end, kA},  // no title: no block
        Tokens{t.title, t.title_end, t.para},  // a branch without a name and ids
        Tokens{t.title, t.para, t.title, t.title_end, t.para, t.para, t.branch_end},
        Tokens{t.title, kA, t.title_end, kB, t.para, kA}}) {
    Request request = open_request("r", {kU0}, 50);
    request.oracle = Oracle{{answer}, {}};
    const Ran ran = run_one(network, model, options_of(names, "same-re", true), request);
    REQUIRE(ran.errors[0] == "");
    CHECK(ran.of().stop == Stop::limit);
    CHECK(ran.of().tokens.front() == answer.front());
  }
}

TEST_CASE("aspd finds its tokens by name or option, and says which are missing") {
  const TinyNetwork& network = quiet();
  Model model = network.load(Dtype::fp32);
  const int vocab = model.config().vocab_size;
  CHECK_THROWS_WITH(
      find_aspd_tokens("", &network.tokenizer(), vocab),
      "tokenizer.json has no token <Title> or <|title|>; weights that were trained with it "
      "(`adapter=DIR`) bring it, else name one by id or text: "
      "`set=aspd.tokens=TITLE,/TITLE,BRANCH,/BRANCH,PARA,/PARA`");
  CHECK_THROWS_WITH(find_aspd_tokens("1,2,3", &network.tokenizer(), vocab),
                    Catch::Contains("expected six ids or texts"));
  CHECK_THROWS_WITH(find_aspd_tokens("1,2,3,4,,6", &network.tokenizer(), vocab),
                    Catch::Contains("expected six ids or texts"));
  CHECK_THROWS_WITH(find_aspd_tokens("1,2,3,4,4,6", &network.tokenizer(), vocab),
                    Catch::Contains("are both id 4"));
  CHECK_THROWS_AS(find_aspd_tokens("1,2,3,4,5,9999", &network.tokenizer(), vocab), ConfigError);
  CHECK_THROWS_AS(find_aspd_tokens("<s>,2,3,4,5,6", nullptr, vocab), ConfigError);
  const AspdTokens mixed =
      find_aspd_tokens("<s>,<unk>,<pad>,393,394,395", &network.tokenizer(), vocab);
  CHECK(mixed.title == 1);
  CHECK(mixed.branch == 3);
  CHECK(mixed.para_end == 395);

  for (const bool spelled_by_code : {false, true}) {
    Json json = line_break_tokenizer();
    Token id = static_cast<Token>(json["model"]["vocab"].size());
    for (const char* name : {"title", "branch", "para"})
      for (const char* slash : {"", "/"}) {
        std::string text = name;
        if (!spelled_by_code) text[0] = static_cast<char>(text[0] - 'a' + 'A');
        json["added_tokens"].push_back({{"id", id++},
                                        {"content", spelled_by_code ? str("<|", slash, text, "|>")
                                                                    : str("<", slash, text, ">")},
                                        {"single_word", false},
                                        {"lstrip", false},
                                        {"rstrip", false},
                                        {"normalized", false},
                                        {"special", true}});
      }
    TemporaryFolder folder;
    write_file(folder.path() / "tokenizer.json", json.dump());
    const Tokenizer tokenizer = Tokenizer::load(folder.path() / "tokenizer.json");
    const AspdTokens found = find_aspd_tokens("", &tokenizer, 600);
    CHECK(found.title == id - 6);
    CHECK(found.title_end == id - 5);
    CHECK(found.branch == id - 4);
    CHECK(found.branch_end == id - 3);
    CHECK(found.para == id - 2);
    CHECK(found.para_end == id - 1);
  }

  const Request request = open_request("r", {kU0}, 5);
  CHECK_THAT(run_one(network, model, Json::object(), request).errors[0],
             Catch::Contains("`set=aspd.tokens=TITLE"));
  CHECK_THROWS_WITH(make_decoder("aspd", {{"positions", "fix-0"}}),
                    Catch::Contains("expected same-seq, same-max, same-re or fix-N"));
  CHECK_THROWS_AS(make_decoder("aspd", {{"positions", "fix-x"}}), ConfigError);
  CHECK_THROWS_AS(make_decoder("aspd", {{"positions", "same"}}), ConfigError);
  CHECK_THROWS_AS(make_decoder("aspd", {{"mask", "none"}}), ConfigError);
  CHECK_THROWS_AS(make_decoder("aspd", {{"ask", "nicely"}}), ConfigError);
  CHECK_THROWS_AS(make_decoder("aspd", {{"max_steps", 2}}), ConfigError);
  CHECK(make_decoder("aspd", {{"positions", "fix-128"}, {"mask", "shared"}})->options().dump() ==
        R"({"ask":"together","positions":"fix-128","mask":"shared","max_steps":2048,"tokens":""})");
}

TEST_CASE("aspd runs on token ids without a tokenizer") {
  const TinyNetwork& network = quiet();
  Model model = network.load(Dtype::fp32);
  const Names names = names_of();
  const AspdTokens& t = names.ids;
  const SteadyClock clock;
  Engine engine(model, clock);
  const DecoderContext context{engine, nullptr, false};
  const auto decoder = make_decoder("aspd", {{"tokens", names.option}, {"ask", "separately"}});
  Request request = open_request("r", {kU0, kU1}, 100);
  request.oracle = Oracle{{worked_answer(t)}, {}};
  std::optional<Answers> answers;
  const auto start = [&](int) -> Task<void> {
    answers = co_await decoder->decode(request, context);
  };
  engine.run(1, 1, start, [](const Ended& end) { end.rethrow(); });
  CHECK(answers->tokens == worked_answer(t));
  CHECK(answers->text.empty());
  CHECK(answers->counters.branch_tokens == 10);  // its prefix has no ":"
}
