// The views of results/schema.sql say of every metric what the program says.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "src/scoring/task_metrics.hpp"
#include "src/store/invocations.hpp"
#include "tests/store/rows.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

/// What a query says of each arm and metric: its columns after these two.
std::map<std::pair<std::string, std::string>, std::vector<double>> by_metric(
    Database& db, const std::string& sql) {
  Statement find(db, sql);
  std::map<std::pair<std::string, std::string>, std::vector<double>> rows;
  while (find.step()) {
    std::vector<double>& values = rows[{find.text(0), find.text(1)}];
    for (int column = 2; column < find.columns(); ++column) values.push_back(find.real(column));
  }
  return rows;
}

/// Draws the stored rows of all metrics.
class Scores {
 public:
  explicit Scores(unsigned seed) : random_(seed) {}

  std::vector<ScoreRow> of_field(const std::string& field) {
    std::vector<ScoreRow> rows;
    const auto add = [&](const std::string& metric, double value, Json details = {}) {
      // Only the newest version counts.
      rows.push_back({metric, value + 7, field, "2", details});
      rows.push_back({metric, value, field, "10", std::move(details)});
    };
    const std::string letters = one_of({"nn", "nv", "vn", "vc", "vw"});
    add("value_correct", letters == "nn" || letters == "vc",
        {{"counts_as", letters}, {"annotated", below(4) > 0}});
    const bool has_answer = below(3) > 0;
    for (const char* metric : {"token_f1", "squad_exact"})
      add(metric, share(), {{"has_answer", has_answer}});
    for (const char* metric :
         {"rouge_l", "rouge_1", "rouge_2", "rouge_l_unicode", "rouge_1_unicode", "rouge_2_unicode"})
      add(metric, share());
    for (const char* metric : {"exact_match", "maths", "accuracy", "passed"}) add(metric, below(2));
    add("repetition", 1 + 5 * share());
    const std::string verdict =
        one_of({"correct", "incorrect", "missing", "correct null", "hallucination"});
    add("judge_class", verdict.starts_with("correct"), {{"class", verdict}});
    add("judge_score", 1 + below(10), Json::object());
    add("judge_preference", 0.5 * below(3), Json::object());
    add("judge_template", 100 * share(), Json::object());
    const int tokens = 1 + below(30);
    const double log_likelihood = -tokens * share();
    add("likelihood", log_likelihood / tokens,
        {{"log_likelihood", log_likelihood}, {"tokens", tokens}});
    add("parsed", 1);
    return rows;
  }

  int below(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }

 private:
  double share() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  std::string one_of(const std::vector<std::string>& names) {
    return names[static_cast<size_t>(below(static_cast<int>(names.size())))];
  }
  std::mt19937 random_;
};

/// Answers to 8 examples of two categories, some of them failed and one without the last repeat.
void add_run(Store& store, const std::string& label, int repeats, unsigned seed) {
  const RowId run = store.begin_run(example_run(label));
  std::vector<SampleRow> samples;
  for (const std::string& key : keys(0, 8))
    samples.push_back({key, "c-" + key, samples.size() % 2 ? "Tea" : "Coffee"});
  store.put_samples(store.dataset_of(run), samples);
  Scores scores(seed);
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (const std::string& key : keys(0, repeat + 1 < repeats || repeats < 3 ? 8 : 7)) {
      Stack job = stack(run, {key});
      job.job.repeat = repeat;
      GenerationRow& answer = job.generations[0];
      answer.scores.clear();
      const std::vector<std::string> fields =
          key == "test-0" ? std::vector<std::string>{"Brand"}
                          : std::vector<std::string>{"Brand", "Roast", "Net content"};
      for (const std::string& field : fields)
        for (ScoreRow& row : scores.of_field(field)) answer.scores.push_back(std::move(row));
      if (scores.below(5) == 0) answer.error = "out of luck";
      commit(store, job);
    }
}

}  // namespace

TEST_CASE("the views know the metrics of the program, and no others") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  std::set<std::pair<std::string, std::string>> wanted, found;
  for (const TaskMetric& metric : task_metrics())
    for (const std::string_view total : metric.totals)
      wanted.emplace(total, metric.reads.size() == 1 ? metric.reads[0].metric : "");
  Statement find(store.database(), "SELECT metric, stored FROM metric_source");
  while (find.step()) found.emplace(find.text(0), find.text(1));
  CHECK(found.size() == wanted.size());
  for (const auto& [total, stored] : wanted) {
    CAPTURE(total);
    const auto view = std::find_if(found.begin(), found.end(),
                                   [&](const auto& one) { return one.first == total; });
    REQUIRE(view != found.end());
    if (!stored.empty()) CHECK(view->second == stored);
  }
}

TEST_CASE("the views' scores are those of the program, for each metric") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  Database& db = store.database();
  add_run(store, "ar", 11, 1);  // the last example has 10 draws
  add_run(store, "hpd", 2, 2);
  const Figures figures = figures_of(store, "invocation-1");
  const std::vector<ScoreTable> scores = read_scores(store, figures);
  const auto viewed = by_metric(db, "SELECT arm, metric, score FROM paper_table");
  const auto sums = by_metric(db,
                              "SELECT arm, metric, sum(numerator), sum(denominator) FROM "
                              "score_parts GROUP BY arm, metric");
  size_t compared = 0;
  for (size_t r = 0; r < scores.size(); ++r) {
    const std::string arm = figures.runs[r].summary.run.label;
    for (const TaskMetric& metric : task_metrics())
      for (const MetricTotal& total : metric.total(scores[r])) {
        CAPTURE(arm, total.name);
        const std::pair of(arm, std::string(total.name));
        REQUIRE(viewed.contains(of));
        CHECK(viewed.at(of).at(0) == Approx(total.value).epsilon(1e-12));
        CHECK(total.value != 0);
        ++compared;
        // The parts of the program's intervals.
        double numerator = 0, denominator = 0;
        for (const ScoredPart& part : metric.parts(total.name, scores[r]))
          numerator += part.numerator, denominator += part.denominator;
        CHECK(sums.at(of).at(0) == Approx(numerator).epsilon(1e-12));
        CHECK(sums.at(of).at(1) == Approx(denominator).epsilon(1e-12));
      }
  }
  CHECK(compared == viewed.size());
  CHECK(viewed.contains({"ar", "pass_at_10"}));
  CHECK(!viewed.contains({"hpd", "pass_at_10"}));
  CHECK(compared == 2 * 30 - 1);
  CHECK(db.integer("SELECT count(DISTINCT sample) FROM score_parts") == 8);
  CHECK(db.integer("SELECT count(*) FROM (SELECT DISTINCT generation_id FROM score_parts WHERE "
                   "failed)") == db.integer("SELECT sum(failed) FROM run_summary"));
  CHECK(db.integer("SELECT sum(failed) > 3 AND min(n) = 8 AND max(generations) = 87 FROM "
                   "run_summary") == 1);
}

TEST_CASE("the score of one answer is that of a run of this answer alone") {
  TemporaryFolder folder;
  Store store(folder.path() / "x.sqlite");
  add_run(store, "ar", 2, 3);
  int compared = 0;
  for (const StoredGeneration& one : store.generations(1)) {
    const ScoreTable table = score_table({one});
    for (const TaskMetric& metric : task_metrics())
      for (const MetricTotal& total : metric.total(table)) {
        if (total.name.starts_with("pass_at")) continue;  // of all draws of a task
        CAPTURE(total.name, one.row.id);
        Statement viewed(store.database(),
                         "SELECT score FROM scores_by_example WHERE generation_id = ? AND metric = "
                         "?");
        viewed.bind(one.row.id, total.name);
        if (!viewed.step() || viewed.null(0)) {  // nothing was there to find, and nothing was said
          CHECK(total.value == 0);
          continue;
        }
        CHECK(viewed.real(0) == Approx(total.value).epsilon(1e-12));
        ++compared;
      }
  }
  CHECK(compared > 300);
}
