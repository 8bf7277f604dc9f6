#include "src/store/judgments.hpp"

#include <cmath>

#include "tests/store/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

/// Two answers of one run, a judge and a protocol.
struct Judged {
  TemporaryFolder folder;
  Store store{folder.path() / "x.sqlite"};
  RowId run = begin(store, example_run()), judge = 0, protocol = 0;
  std::vector<RowId> answers;

  Judged() {
    commit(store, stack(run, keys(0, 2)));
    for (const auto& answer : store.generations(run)) answers.push_back(answer.row.id);
    judge = put_judge(store, {"m", {{"model", "m"}}});
    protocol = put_protocol(store, {"single", {{"schema", 1}}});
  }

  JudgmentRow vote(size_t answer, const VoteRow& said) const {
    return {answers[answer], 0, true, judge, protocol, said};
  }
};

}  // namespace

TEST_CASE("judges and protocols are stored once, identified by their whole content") {
  Judged judged;
  CHECK(put_judge(judged.store, {"m", {{"model", "m"}}}) == judged.judge);
  CHECK(put_judge(judged.store, {"m", {{"model", "m"}, {"effort", "high"}}}) != judged.judge);
  CHECK(judges_of(judged.store).size() == 2);
  CHECK(protocols_of(judged.store).at(judged.protocol).json == Json{{"schema", 1}});
}

TEST_CASE("an attempt is stored before it is sent, and completed afterwards") {
  Judged judged;
  AttemptRow attempt{.process = "p", .call_key = "k", .cost = 2, .outcome_unknown = true};
  attempt.tokens = {300, 50, -1, -1};
  put_attempt(judged.store, judged.judge, attempt);
  JudgeSpending spent = judge_spending(judged.store, judged.judge);
  CHECK(spent.money == 0);
  CHECK(spent.possible_money == 2);
  CHECK(spent.possible_attempts == 1);
  CHECK(spent.tokens == 0);
  CHECK(spent.possible_tokens == 350);
  attempt.outcome_unknown = false;
  attempt.cost = 0.25;
  attempt.tokens = {100, 20, -1, -1};
  attempt.http_status = 200;
  put_attempt(judged.store, judged.judge, attempt);
  attempt.number = 2;
  attempt.error = "cut \xFF";
  put_attempt(judged.store, judged.judge, attempt);
  spent = judge_spending(judged.store, judged.judge);
  CHECK(spent.attempts == 2);
  CHECK(spent.money == 0.5);
  CHECK(spent.possible_money == 0);
  CHECK(spent.tokens == 240);
  CHECK(spent.possible_tokens == 0);
  CHECK(judged.store.database().integer(
            "SELECT count(*) FROM judge_attempt WHERE reasoning_tokens IS NULL "
            "AND (error IS NULL OR error = 'cut \uFFFD')") == 2);
}

TEST_CASE("a reply is kept whatever it contains, and found if it has an answer") {
  Judged judged;
  const auto put = [&](const char* process, ReplyEnd end, const char* text, bool valid) {
    return put_votes(
        judged.store, judged.judge,
        {.process = process, .call_key = "k", .end = end, .text = text, .valid = valid}, {});
  };
  CHECK_FALSE(find_reply(judged.store, "k"));
  put("p-1", ReplyEnd::refused, "no", false);
  put("p-2", ReplyEnd::failed, "", false);
  CHECK_FALSE(find_reply(judged.store, "k"));
  const RowId unreadable = put("p-3", ReplyEnd::answered, "hm", false);
  CHECK(find_reply(judged.store, "k")->id == unreadable);
  const RowId good = put("p-4", ReplyEnd::answered, "{}", true);
  put("p-5", ReplyEnd::answered, "hm", false);
  CHECK(find_reply(judged.store, "k")->id == good);
  CHECK(find_reply(judged.store, "k")->valid);
  CHECK(judged.store.database().integer("SELECT count(*) FROM judge_reply") == 5);
}

TEST_CASE(
    "votes are stored with their reply or not at all, and a later one replaces an earlier one") {
  Judged judged;
  const ReplyRow reply{.process = "p", .call_key = "k", .end = ReplyEnd::answered, .valid = true};
  JudgmentRow unknown = judged.vote(0, {"turn 1", 0, VoteState::scored, "", 7.5, ""});
  unknown.generation = 999;
  CHECK_THROWS(put_votes(judged.store, judged.judge, reply,
                         {judged.vote(0, {"turn 1", 0, VoteState::scored, "", 7.5, ""}), unknown}));
  CHECK(judgments(judged.store, judged.run).empty());
  CHECK_FALSE(find_reply(judged.store, "k"));
  put_votes(judged.store, judged.judge, {},
            {judged.vote(0, {"turn 1", 0, VoteState::error, "", std::nullopt, "timeout"})});
  put_votes(judged.store, judged.judge, reply,
            {judged.vote(0, {"turn 1", 0, VoteState::scored, "", 7.5, ""}),
             judged.vote(1, {"Brand", 0, VoteState::scored, "correct", std::nullopt, ""})});
  const auto votes = judgments(judged.store, judged.run);
  REQUIRE(votes.size() == 2);
  CHECK(votes[0].vote.value == 7.5);
  CHECK(votes[0].vote.reason.empty());
  CHECK(votes[0].reply > 0);
  CHECK(votes[1].vote.label == "correct");
  CHECK_FALSE(votes[1].vote.value);
}

TEST_CASE("a comparison names a winner exactly if it is scored") {
  Judged judged;
  JudgmentRow row = judged.vote(0, {"", 0, VoteState::scored, "method", std::nullopt, ""});
  row.baseline = judged.answers[1];
  row.method_first = false;
  put_votes(judged.store, judged.judge, {}, {row});
  row.vote.label = "nobody";
  CHECK_THROWS(put_votes(judged.store, judged.judge, {}, {row}));
  row.vote = {"", 0, VoteState::refused, "", std::nullopt, "it may not"};
  row.method_first = true;
  put_votes(judged.store, judged.judge, {}, {row});
  row.vote.state = VoteState::scored;
  CHECK_THROWS(put_votes(judged.store, judged.judge, {}, {row}));
  const auto votes = judgments(judged.store, judged.run);
  REQUIRE(votes.size() == 2);
  CHECK(votes[0].vote.label == "method");
  CHECK(votes[1].vote.reason == "it may not");
  judged.store.database().run("DELETE FROM run");  // also takes its judgments
  CHECK(judged.store.database().integer("SELECT count(*) FROM comparison") == 0);
}
