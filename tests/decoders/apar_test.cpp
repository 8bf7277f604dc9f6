// APAR's decoding against Algorithm 1 on plain lists of tokens, computed again for every choice;
// its worked example step by step; caps, bans and ends of threads.
#include <algorithm>
#include <map>
#include <set>

#include "decoders/apar/apar.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "tests/support/apar_reference.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

Tokens random_prompt(std::uint64_t seed, int length = 6) {
  Rng rng(seed);
  Tokens prompt;
  for (int i = 0; i < length; ++i) prompt.push_back(static_cast<Token>(4 + rng.below(256)));
  return prompt;
}

std::unique_ptr<Decoder> apar(Token fork, Token child, Json options = Json::object()) {
  options["fork_token"] = fork;
  options["child_token"] = child;
  return make_decoder("apar", options);
}

constexpr Token kFork = 393, kChild = 394;  // no token of the tokenizer

/// Rows alive after each step, from the trace.
std::vector<std::int64_t> slots(const Trace& trace) {
  std::vector<std::int64_t> alive(static_cast<size_t>(trace.step.back()) + 1);
  for (size_t row = 0; row < trace.tokens.size(); ++row)
    for (int step = trace.step[row];
         step < std::ssize(alive) && (!trace.dropped_at[row] || step <= *trace.dropped_at[row]);
         ++step)
      ++alive[static_cast<size_t>(step)];
  return alive;
}

}  // namespace

TEST_CASE("apar, worked example: 8 forward passes, 10 slots, 5.333 attended, 3 threads") {
  TinyNetwork network("llama", 3, {{"eos_token_id", 0}});
  Model model = network.load(Dtype::fp32);
  constexpr Token F = kFork, C = kChild, E = 0, a0 = 101, b0 = 102, d0 = 103, d1 = 104, e0 = 105,
                  e1 = 106;
  Request request = open_request("worked", {11, 12}, 50);
  request.oracle = Oracle{{{a0, F, b0, F, d0, E, d1, E, e0, e1, E}}, {}};
  const Ran ran = run(model, network.tokenizer(), *apar(F, C), {request}, 1, true);
  const Answers& answers = ran.of();
  const Trace& trace = ran.traces.at("worked/0/0");

  CHECK(answers.tokens == request.oracle->streams[0]);
  CHECK(answers.stop == Stop::eos);
  // a0 d0 d1 \n\n b0 e0 e1
  CHECK(answers.text == repair_utf8(str(bytes_of({a0, d0, d1}, network.tokenizer()), "\n\n",
                                        bytes_of({b0, e0, e1}, network.tokenizer()))));

  // Slots in use after each pass. The end of the main thread frees nothing, the end of t1 frees C
  // d0 d1.
  CHECK(slots(trace) == std::vector<std::int64_t>{2, 3, 4, 6, 8, 10, 8, 9});
  const Counters& c = answers.counters;
  CHECK(c.cached_peak == 10);
  CHECK(c.cached_sum == 2 + 3 + 4 + 6 + 8 + 10 + 8 + 9);
  CHECK(c.text == 6);
  CHECK(c.text_attended == 2 + 5 + 6 + 4 + 7 + 8);
  CHECK(static_cast<double>(c.text_attended) / static_cast<double>(c.text) ==
        Catch::Detail::Approx(5.333).epsilon(1e-4));
  CHECK(c.branch_lengths == std::vector<std::int64_t>{5, 3, 3});
  CHECK(c.forwards == 8);
  CHECK(c.chosen == 11);
  CHECK(c.forced == 2);
  CHECK(c.scratch == 0);
  CHECK(c.emitted == std::map<std::int64_t, std::int64_t>{{1, 5}, {2, 3}});

  // Order of computation; ends are not computed.
  CHECK(trace.tokens == Tokens{11, 12, a0, F, b0, C, F, d0, d1, C, e0, e1});
  CHECK(trace.position == std::vector<int>{0, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 8});
  CHECK(trace.step == std::vector<int>{0, 0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 7});
  CHECK(trace.visible[4] == std::vector<int>{0, 1, 2, 3, 4});                 // b0
  CHECK(trace.visible[5] == std::vector<int>{0, 1, 2, 3, 5});                 // C of a0's details
  CHECK(trace.visible[6] == std::vector<int>{0, 1, 2, 3, 4, 6});              // the second F
  CHECK(trace.visible[8] == std::vector<int>{0, 1, 2, 3, 5, 7, 8});           // d1
  CHECK(trace.visible[11] == std::vector<int>{0, 1, 2, 3, 4, 6, 9, 10, 11});  // e1
  for (const size_t row : {5, 7, 8}) CHECK(trace.dropped_at[row] == 5);
  for (const size_t row : {2, 3, 4, 6}) CHECK(trace.dropped_at[row].value_or(7) == 7);
}

TEST_CASE("apar is Algorithm 1: choices, trees, text order, slots and attended tokens") {
  std::int64_t forks = 0, deep = 0, released = 0, full = 0;
  for (const char* family : {"llama", "qwen3"}) {
    TinyNetwork network(family, 21, {{"eos_token_id", {0, 20}}}, {kFork, kFork, kFork, 0, 20});
    Model model = network.load(Dtype::fp64);
    for (const Json& caps :
         {Json{{"max_threads", 32}, {"max_depth", 2}}, Json{{"max_threads", 0}, {"max_depth", 0}},
          Json{{"max_threads", 2}, {"max_depth", 0}}, Json{{"max_threads", 3}, {"max_depth", 3}}})
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const Tokens prompt = random_prompt(100 + seed);
        const int limit = 40;
        INFO(family << " " << caps.dump() << " seed " << seed);
        const SlowAparRules rules{
            kFork, kChild, {0, 20}, limit, caps["max_threads"], caps["max_depth"]};
        const SlowApar slow = slow_apar(network.slow(), prompt, rules);
        const Ran ran = run(model, network.tokenizer(), *apar(kFork, kChild, caps),
                            {open_request("r", prompt, limit)}, 1, true);
        const Answers& answers = ran.of();
        const Trace& trace = ran.traces.at("r/0/0");
        CHECK(answers.tokens == slow.chosen);
        CHECK(std::ssize(answers.counters.branch_lengths) == std::ssize(slow.threads));
        CHECK(slots(trace) == slow.slots);
        CHECK(answers.counters.cached_peak ==
              *std::max_element(slow.slots.begin(), slow.slots.end()));
        CHECK(answers.counters.text == std::ssize(slow.restored));
        CHECK(static_cast<double>(answers.counters.text_attended) ==
              Catch::Detail::Approx(slow.attended * static_cast<double>(slow.restored.size())));
        // The text, newlines apart, is the restored tokens in order.
        const auto bare = [](std::string bytes) {
          std::erase(bytes, '\n');
          return repair_utf8(bytes);
        };
        CHECK(bare(answers.text) ==
              bare(repair_utf8(bytes_of(slow.restored, network.tokenizer()))));
        CHECK(std::ssize(answers.tokens) <= limit);
        std::set<Tokens> fed;
        for (size_t t = 0; t < slow.threads.size(); ++t)
          for (size_t n = 1; n <= slow.fed[t]; ++n)
            fed.insert(Tokens(slow.threads[t].begin(),
                              slow.threads[t].begin() + static_cast<std::ptrdiff_t>(n)));
        CHECK(answers.counters.fed == std::ssize(prompt) + std::ssize(fed));
        for (const int live : slow.live) {
          CHECK((rules.max_threads == 0 || live <= rules.max_threads));
          full += live == rules.max_threads;
        }
        forks += std::ssize(slow.threads) - 1;
        for (const Tokens& thread : slow.threads)
          deep += std::count(thread.begin(), thread.end(), kChild) > 1;
        released += slow.slots.back() < *std::max_element(slow.slots.begin(), slow.slots.end());
      }
  }
  CHECK(forks > 100);
  CHECK(deep > 30);
  CHECK(released > 3);
  CHECK(full > 10);
}

TEST_CASE("apar without control tokens is ar, with the same tokens and counts") {
  for (const char* family : {"llama", "qwen3"}) {
    TinyNetwork network(family, 10, Json::object(), {0, 0});
    for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
      Model model = network.load(dtype);
      for (const char* ask : {"together", "separately"}) {
        const auto ar = make_decoder("ar", {{"ask", ask}});
        // One thread: [Fork] is banned in the deepest, and [Child] always.
        const auto one = apar(kFork, kChild, {{"ask", ask}, {"max_depth", 1}, {"max_total", 5}});
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
          Job job = random_job("same", 1, 1 + static_cast<int>(seed), seed);
          job.limits = {.max_new_tokens = 30, .per_field = 9};
          INFO(family << " " << name(dtype) << " " << ask << " " << seed);
          const Answers a =
              run(model, network.tokenizer(), *ar, {make_request(job, *ar, network.tokenizer())})
                  .of();
          const Answers b =
              run(model, network.tokenizer(), *one, {make_request(job, *one, network.tokenizer())})
                  .of();
          for (const Tokens& ids : chosen_ids(a))
            for (const Token control : {kFork, kChild})
              REQUIRE(std::find(ids.begin(), ids.end(), control) == ids.end());
          CHECK(chosen_ids(b) == chosen_ids(a));
          CHECK(b.text == a.text);
          CHECK(b.stop == a.stop);
          CHECK(b.gaps == a.gaps);
          CHECK(b.parsed == a.parsed);
          for (size_t i = 0; i < flat(a).size(); ++i) {
            CHECK(flat(b)[i].text == flat(a)[i].text);
            CHECK(flat(b)[i].stop == flat(a)[i].stop);
          }
          OrderedJson cost_a = to_json(a.counters), cost_b = to_json(b.counters);
          for (OrderedJson* cost : {&cost_a, &cost_b})
            for (const char* time : {"prefill_ns", "decode_ns", "total_ns", "first_token_ns"})
              cost->erase(time);
          CHECK(cost_b == cost_a);
        }
      }
    }
  }
}

namespace {

/// The result of one open prompt, on a network that forks often.
struct Grew {
  Answers answers;
  Trace trace;
};

class Forking {
 public:
  explicit Forking(const Json& changes = Json::object(), Tokens loud = {kFork, kFork, kFork})
      : network_("llama", 21, changes, std::move(loud)), model_(network_.load(Dtype::fp64)) {}

  Grew grow(std::uint64_t seed, int limit, const Json& options) {
    Ran ran = run(model_, network_.tokenizer(), *apar(kFork, kChild, options),
                  {open_request("g", random_prompt(seed), limit)}, 1, true);
    return {ran.of(), ran.traces.at("g/0/0")};
  }

 private:
  TinyNetwork network_;
  Model model_;
};

/// Fed tokens on each row's path, in order, the row's own last.
std::vector<Tokens> paths(const Trace& trace) {
  std::vector<Tokens> all;
  for (const auto& seen : trace.visible) {
    std::map<int, Token> by_position;
    for (const int row : seen)
      by_position[trace.position[static_cast<size_t>(row)]] =
          trace.tokens[static_cast<size_t>(row)];
    Tokens& path = all.emplace_back();
    for (const auto& [position, token] : by_position) path.push_back(token);
  }
  return all;
}

}  // namespace

TEST_CASE("apar: [Child] is never chosen, [Fork] never directly after a control token") {
  Forking forking(Json::object(), {kFork, kFork, kFork, kChild, kChild, kChild, kChild});
  int forks = 0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Grew grew = forking.grow(seed, 60, {{"max_depth", 0}, {"max_threads", 0}});
    for (const Token token : grew.answers.tokens) CHECK(token != kChild);
    for (const Tokens& path : paths(grew.trace))
      for (size_t i = 1; i < path.size(); ++i) {
        if (path[i] == kFork) CHECK((path[i - 1] != kFork && path[i - 1] != kChild));
        if (path[i] == kChild) CHECK(path[i - 1] == kFork);
        forks += path[i] == kFork;
      }
    for (size_t row = 0; row < grew.trace.tokens.size(); ++row) {
      if (!grew.trace.predicts[row]) continue;
      const auto& banned = grew.trace.banned[row];
      const Token token = grew.trace.tokens[row];
      CHECK(std::find(banned.begin(), banned.end(), kChild) != banned.end());
      CHECK((std::find(banned.begin(), banned.end(), kFork) != banned.end()) ==
            (token == kFork || token == kChild));
    }
  }
  CHECK(forks > 50);
}

TEST_CASE(
    "apar.max_depth: with 2 only the prompt's thread forks, with 1 none, without a limit all") {
  Forking forking;
  for (const int depth : {0, 1, 2, 3}) {
    size_t deepest = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed)
      for (const Tokens& path : paths(forking.grow(seed, 60, {{"max_depth", depth}}).trace))
        deepest = std::max(deepest,
                           1 + static_cast<size_t>(std::count(path.begin(), path.end(), kChild)));
    INFO("max_depth " << depth);
    if (depth > 0)
      CHECK(static_cast<int>(deepest) == depth);
    else
      CHECK(deepest > 3);
  }
}

TEST_CASE("apar.max_threads: never more are alive, and as many as the network starts") {
  Forking forking;
  for (const int most : {0, 1, 2, 4}) {
    int alive = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Grew grew = forking.grow(seed, 60, {{"max_threads", most}, {"max_depth", 0}});
      std::map<int, int> fed;
      for (size_t row = 0; row < grew.trace.tokens.size(); ++row)
        if (grew.trace.step[row] > 0) ++fed[grew.trace.step[row]];
      for (const auto& [step, rows] : fed) alive = std::max(alive, rows);
    }
    INFO("max_threads " << most);
    if (most > 0)
      CHECK(alive == most);
    else
      CHECK(alive > 4);
  }
}

TEST_CASE(
    "apar.max_total: a tree stops at this limit, a single thread continues to its own limit") {
  Forking forking;
  int cut = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Grew whole = forking.grow(seed, 40, {{"max_depth", 0}, {"max_total", 0}});
    const Grew tree = forking.grow(seed, 40, {{"max_depth", 0}, {"max_total", 20}});
    const Tokens& all = whole.answers.tokens;
    REQUIRE(all.size() > 20);
    CHECK(tree.answers.tokens == Tokens(all.begin(), all.begin() + 20));
    CHECK(tree.answers.stop == Stop::limit);
    cut += tree.answers.counters.branch_lengths.size() > 1;
    const Grew single = forking.grow(seed, 16, {{"max_depth", 1}, {"max_total", 5}});
    CHECK(single.answers.tokens.size() == 16);
  }
  CHECK(cut == 5);
}

TEST_CASE("apar: the limit counts the tokens of all threads together, without [Child]") {
  Forking forking;
  std::int64_t forced = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Grew whole = forking.grow(seed, 60, {{"max_depth", 0}});
    for (const int limit : {1, 2, 3, 9, 31}) {
      const Grew grew = forking.grow(seed, limit, {{"max_depth", 0}});
      CHECK(grew.answers.stop == Stop::limit);
      CHECK(grew.answers.counters.chosen == limit);
      // What was chosen until then is the same as under a higher limit.
      CHECK(grew.answers.tokens ==
            Tokens(whole.answers.tokens.begin(), whole.answers.tokens.begin() + limit));
      forced += grew.answers.counters.forced;
    }
  }
  CHECK(forced > 20);
}

TEST_CASE("apar: threads that reach the network's last position stop there, without an error") {
  Forking forking(Json{{"max_position_embeddings", 16}});
  int threads = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Grew grew = forking.grow(seed, 100, {{"max_depth", 0}});
    CHECK(grew.answers.stop == Stop::context);
    CHECK(*std::max_element(grew.trace.position.begin(), grew.trace.position.end()) == 15);
    threads += static_cast<int>(grew.answers.counters.branch_lengths.size());
  }
  CHECK(threads > 10);
}

TEST_CASE("apar: an end of sequence directly after [Fork] forks first") {
  TinyNetwork network("llama", 3);
  Model model = network.load(Dtype::fp32);
  Request request = open_request("last", {11, 12}, 50);
  request.oracle = Oracle{{{101, kFork, 0, 102, 0}}, {}};
  const Ran ran = run(model, network.tokenizer(), *apar(kFork, kChild), {request}, 1, true);
  CHECK(ran.of().tokens == Tokens{101, kFork, 0, 102, 0});
  CHECK(ran.of().text == repair_utf8(bytes_of({101, 102}, network.tokenizer())));
  CHECK(ran.of().counters.branch_lengths == std::vector<std::int64_t>{3, 2});
  CHECK(ran.traces.at("last/0/0").tokens == Tokens{11, 12, 101, kFork, kChild, 102});
}

TEST_CASE("apar: a control token in the prompt does not fork") {
  TinyNetwork network("llama", 3);
  Model model = network.load(Dtype::fp32);
  Request request = open_request("prompt", {11, 12, kFork}, 50);
  request.oracle = Oracle{{{101, 102, 0}}, {}};
  const Answers answers = run(model, network.tokenizer(), *apar(kFork, kChild), {request}).of();
  CHECK(answers.counters.branch_lengths == std::vector<std::int64_t>{3});
  CHECK(answers.counters.forced == 0);
}

TEST_CASE(
    "apar ask=together: keys are paragraphs, values their details, read from the restored text") {
  TinyNetwork network("qwen3", 6);
  Model model = network.load(Dtype::fp32);
  const Tokenizer& tokenizer = network.tokenizer();
  const auto decoder = apar(kFork, kChild, {{"ask", "together"}});
  Job job = random_job("json", 1, 2, 4);
  job.limits.max_new_tokens = 200;
  Request request = make_request(job, *decoder, tokenizer);
  // The ids of the threads; from these the order of choice follows.
  const auto ids = [&](const std::string& text) { return tokenizer.encode_piece(text, false); };
  const auto with = [](Tokens tokens, Token last) {
    tokens.push_back(last);
    return tokens;
  };
  const Tokens first = with(ids("\n{\n  \"1\": {\n    \"A1\":"), kFork),
               second = with(ids("    \"A2\":"), kFork), tail = ids("  }\n}\n</result>");
  const std::vector<Tokens> details = {with(ids(" \"red\",\n"), 0),
                                       with(ids(" \"x y z x y z x y z\"\n"), 0)};
  Tokens main = first;
  for (const Tokens& part : {second, tail}) main.insert(main.end(), part.begin(), part.end());
  Tokens order;
  const std::vector<size_t> born = {first.size(), first.size() + second.size()};
  for (size_t t = 0; t < main.size() + 40; ++t) {
    if (t < main.size()) order.push_back(main[t]);
    for (size_t d = 0; d < 2; ++d)
      if (t > born[d] && t - born[d] - 1 < details[d].size())
        order.push_back(details[d][t - born[d] - 1]);
  }
  request.oracle = Oracle{{order}, {}};
  const Answers answers = run(model, tokenizer, *decoder, {request}).of();
  CHECK(answers.tokens == order);
  CHECK(answers.stop == Stop::terminator);
  CHECK(answers.parsed == std::vector<bool>{true});
  REQUIRE(flat(answers).size() == 2);
  CHECK(flat(answers)[0].text == "red");
  CHECK(flat(answers)[1].text == "x y z x y z x y z");
  // A value's ids, without its control tokens and its end.
  for (size_t d = 0; d < 2; ++d) {
    CHECK(flat(answers)[d].tokens == Tokens(details[d].begin(), details[d].end() - 1));
    CHECK(flat(answers)[d].unforced.size() == flat(answers)[d].tokens.size());
    CHECK(flat(answers)[d].gaps.size() == flat(answers)[d].tokens.size());
  }
  CHECK(answers.counters.branch_lengths == std::vector<std::int64_t>{std::ssize(main),
                                                                     std::ssize(details[0]),
                                                                     std::ssize(details[1])});
  CHECK(answers.counters.text == std::ssize(order) - 4);  // two [Fork], two ends
}

TEST_CASE("apar ask=separately: forward passes that the fields share count once") {
  TinyNetwork network("llama", 21, {{"eos_token_id", {0, 20}}}, {kFork, kFork, kFork, 0, 20});
  Model model = network.load(Dtype::fp64);
  const auto decoder = apar(kFork, kChild, {{"ask", "separately"}, {"max_depth", 0}});
  Job job = random_job("fields", 2, 3, 5);
  job.limits.per_field = 10;
  const Request request = make_request(job, *decoder, network.tokenizer());
  const Ran ran = run(model, network.tokenizer(), *decoder, {request}, 1, true);
  const Counters& c = ran.of().counters;
  int passes = 0;
  for (const auto& [name, trace] : ran.traces) passes = std::max(passes, trace.step.back() + 1);
  CHECK(c.forwards == passes);
  std::int64_t forwards = 0, emitted = 0;
  for (const auto& [choices, count] : c.emitted) forwards += count, emitted += choices * count;
  CHECK(forwards == passes);
  CHECK(emitted == c.chosen);
  CHECK(c.branch_lengths.size() > 6);
}

TEST_CASE("apar: if the vocabulary lacks control tokens, the error says how to name them") {
  TinyNetwork network;
  Model model = network.load(Dtype::fp32);
  const auto decoder = make_decoder("apar", Json::object());
  const Ran ran = run(model, network.tokenizer(), *decoder, {open_request("r", {11, 12}, 5)});
  CHECK_THAT(ran.errors[0], Catch::Contains("[Fork]") && Catch::Contains("apar.fork_token"));
  const Ran same = run(model, network.tokenizer(), *apar(7, 7), {open_request("r", {11, 12}, 5)});
  CHECK_THAT(same.errors[0], Catch::Contains("two different tokens"));
}
