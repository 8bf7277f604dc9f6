#include "src/engine/trace_threads.hpp"

#include <algorithm>
#include <limits>

#include "src/support/error.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

constexpr std::optional<int> kNobody = std::nullopt;

/// A trace that is written row by row.
struct Written : Trace {
  Written(const char* name) {
    request = "r";
    decoder = name;
  }
  /// `sees`: rows before it; it also sees itself.
  int row(int pass, Token token, int at, std::vector<int> sees, std::optional<Token> choice = {},
          std::optional<int> chosen_by = kNobody, bool dropped = false) {
    tokens.push_back(token);
    position.push_back(at);
    step.push_back(pass);
    sees.push_back(static_cast<int>(tokens.size()) - 1);
    visible.push_back(std::move(sees));
    predicts.push_back(choice);
    from.push_back(chosen_by);
    banned.emplace_back();
    dropped_at.push_back(dropped ? std::optional(pass) : std::nullopt);
    return static_cast<int>(tokens.size()) - 1;
  }
};

/// Threads as a reader would write them: heading|tokens, + before an accepted guess, ~ before a
/// rejected one, then the pass of each.
std::vector<std::string> told(const std::vector<TraceThread>& threads) {
  std::vector<std::string> out;
  for (const TraceThread& thread : threads) {
    std::string& line = out.emplace_back();
    for (const Token id : thread.heading) line += std::to_string(id) + " ";
    line += "|";
    for (const TraceToken& token : thread.tokens)
      line += (token.fate == TraceToken::Fate::rejected  ? " ~"
               : token.fate == TraceToken::Fate::guessed ? " +"
                                                         : " ") +
              std::to_string(token.id) + "@" + std::to_string(token.step);
  }
  return out;
}

using Lines = std::vector<std::string>;

/// Two values after keys 10 11 and 20 21, four positions apart, as in HPD's layout.
Trace two_values() {
  Written t("hpd");
  t.row(0, 1, 0, {});
  t.row(0, 10, 1, {0});
  const int first = t.row(0, 11, 2, {0, 1}, 100);
  t.row(0, 20, 7, {0, 1, 2});
  const int second = t.row(0, 21, 8, {0, 1, 2, 3}, 200);
  const int next = t.row(1, 100, 3, {0, 1, 2}, 101, first);
  t.row(1, 200, 9, {0, 1, 2, 3, 4, 5}, 201, second);
  t.row(2, 101, 4, {0, 1, 2, 5}, 102, next);
  t.emitted = {first, second, 5, 6, 7};
  return t;
}

/// Text 1 2, guesses 3 4 in the pass of the prompt; `kept` of them are accepted, then comes the
/// network's own token.
Trace guesses(int kept) {
  Written t("speculative");
  t.row(0, 1, 0, {});
  const int newest = t.row(0, 2, 1, {0}, kept > 0 ? 3 : 9);
  t.row(0, 3, 2, {0, 1}, kept > 1 ? 4 : 8, kNobody, kept < 1);
  t.row(0, 4, 3, {0, 1, 2}, 7, kNobody, kept < 2);
  t.emitted = {newest};
  for (int k = 0; k < kept; ++k) t.emitted.push_back(2 + k);
  return t;
}

}  // namespace

TEST_CASE(
    "threads begin at rows that nothing chose, and continue with the tokens chosen from them") {
  CHECK(told(threads_of(two_values(), true)) ==
        Lines{"1 10 11 | 100@0 101@1 102@2", "20 21 | 200@0 201@1"});
}

TEST_CASE("an accepted guess belongs to its thread, a rejected one is reported as rejected") {
  CHECK(told(threads_of(guesses(0), true)) == Lines{"1 2 | ~3@0 ~4@0 9@0"});
  CHECK(told(threads_of(guesses(1), true)) == Lines{"1 2 | +3@0 ~4@0 8@0"});
  CHECK(told(threads_of(guesses(2), true)) == Lines{"1 2 | +3@0 +4@0 7@0"});
}

TEST_CASE("masks are no guesses, but their choices are") {
  Written t("space");
  const int x = t.row(0, 1, 0, {}, 5);
  const int mask = t.row(0, 99, 1, {0}, 6, kNobody, true);
  const int next = t.row(1, 5, 1, {0}, 7, x);
  const int last = t.row(1, 99, 2, {0, 2}, 8, kNobody, true);
  t.row(1, 6, 2, {0, 2}, 3, mask, true);
  for (const int row : {mask, last}) t.banned[static_cast<size_t>(row)] = {99};
  t.emitted = {x, next};
  CHECK(told(threads_of(t, true)) == Lines{"1 | 5@0 ~6@1 7@1"});
}

TEST_CASE("of a tree of guesses the first path is reported") {
  Written t("medusa");
  const int x = t.row(0, 1, 0, {}, 5);
  t.row(0, 2, 1, {0}, 9, kNobody, true);
  t.row(0, 3, 1, {0}, 9, kNobody, true);
  t.row(0, 4, 2, {0, 2}, 9, kNobody, true);
  t.row(0, 6, 2, {0, 1}, 9, kNobody, true);
  t.emitted = {x};
  CHECK(told(threads_of(t, true)) == Lines{"1 | ~2@0 ~6@0 5@0"});
}

TEST_CASE("the child of a fork is a separate thread") {
  Written t("apar");
  const int p = t.row(0, 1, 0, {}, 50);
  const int fork = t.row(1, 50, 1, {0}, 60, p);  // [Fork]
  const int main = t.row(2, 60, 2, {0, 1}, 61, fork);
  const int child = t.row(2, 51, 2, {0, 1}, 70);  // [Child]
  t.emitted = {p, fork, main, child};
  CHECK(told(threads_of(t, true)) == Lines{"1 | 50@0 60@1 61@2", "51 | 70@2"});
}

TEST_CASE("tokens that were sampled and not fed are unknown from a trace") {
  Trace t = two_values();
  t.tokens[5] = 500;  // another choice than the most likely one
  CHECK(is_greedy(two_values()));
  CHECK_FALSE(is_greedy(t));
  CHECK(told(threads_of(t, false)) == Lines{"1 10 11 | 500@0 101@1", "20 21 | 200@0"});
}

TEST_CASE("a trace is read back as it was written") {
  const Trace t = two_values();
  const Trace back = parse_trace(Json::parse(to_json(t).dump()), "t.jsonl:1");
  CHECK(to_json(back) == to_json(t));
  Json json = Json::parse(to_json(t).dump());
  json["from"][5] = 99;
  CHECK_THROWS_WITH(parse_trace(json, "t.jsonl:1"),
                    Catch::Contains("t.jsonl:1: 'from' does not fit its 8 tokens"));
  json = Json::parse(to_json(t).dump());
  json["step"].erase(0);
  CHECK_THROWS_WITH(parse_trace(json, "t"), Catch::Contains("'step' does not fit"));
  json = Json::parse(to_json(t).dump());
  json["tokens"] = "none";
  CHECK_THROWS_AS(parse_trace(json, "t"), ConfigError);
  json = Json::parse(to_json(t).dump());
  json["colour"] = 1;
  CHECK_THROWS_AS(parse_trace(json, "t"), ConfigError);
}

TEST_CASE("a trace that names rows it does not have is refused before they are created") {
  const Json good = Json::parse(to_json(two_values()).dump());
  const int last = std::numeric_limits<int>::max();
  const auto refused = [&](const char* column, size_t row, Json value) {
    Json json = good;
    json[column][row] = std::move(value);
    CHECK_THROWS_WITH(parse_trace(json, "t"), Catch::StartsWith("t: "));
    CHECK_THROWS_AS(parse_trace(json, "t"), ConfigError);
  };
  refused("visible", 2, Json::array({Json::array({0, last})}));
  refused("visible", 2, Json::array({Json::array({1, 2}), Json::array({0, 1})}));
  refused("visible", 2, {1, 1});
  refused("visible", 2, {-1});
  refused("visible", 2, {std::int64_t{1} << 40});
  refused("visible", 2, {0.5});
  refused("step", 7, last);
  refused("position", 7, last);
  refused("position", 7, -1);
  refused("tokens", 7, std::int64_t{1} << 40);
  // Choices of rows that come later in the answer begin their own threads.
  Json json = good;
  std::reverse(json["emitted"].begin(), json["emitted"].end());
  CHECK_NOTHROW(threads_of(parse_trace(json, "t"), true));
}
