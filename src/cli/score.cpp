// `pardec score`: computes scores of stored generations again from the database. It reads no
// dataset files, and a network only for the metric that needs one.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "src/cli/command_line.hpp"
#include "src/cli/run_end.hpp"
#include "src/cli/table_output.hpp"
#include "src/cli/with_flags.hpp"
#include "src/report/comparison_notes.hpp"
#include "src/report/dataset_name.hpp"
#include "src/runs/likelihood.hpp"
#include "src/runs/record.hpp"
#include "src/runs/shared_likelihood.hpp"
#include "src/scoring/rescore.hpp"
#include "src/store/invocations.hpp"
#include "src/support/error.hpp"
#include "src/support/hub_cache.hpp"
#include "src/support/progress.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

struct ScoreFlags {
  std::string db = "results/pardec.sqlite", run, format = "text";
  std::vector<std::string> metrics;
  ModelOptions model{.dtype = "auto"};
  std::string chat_template = "auto";
};

bool by_network(const TaskMetric* metric) { return metric->by<ByNetwork>() != nullptr; }

/// The metrics that the flags name. ConfigError: they cannot be computed here.
std::vector<const TaskMetric*> metrics_named(const ScoreFlags& flags) {
  std::vector<const TaskMetric*> asked;
  for (const auto& name : flags.metrics) {
    const TaskMetric* metric = &find_metric(name);
    if (std::find(asked.begin(), asked.end(), metric) != asked.end())
      throw ConfigError(str("--metric names '", name, "' twice, expected each once"));
    if (metric->by<ByJudge>())
      throw ConfigError(str("--metric ", name, ": a judge gives it; ask one with pardec judge"));
    if (by_network(metric) && flags.model.model.empty())
      throw ConfigError(str("--metric ", name, ": it needs a network; name one with --model DIR"));
    asked.push_back(metric);
  }
  if (!flags.model.model.empty() && std::none_of(asked.begin(), asked.end(), by_network))
    throw ConfigError("--model belongs to --metric likelihood; no other metric reads a network");
  return asked;
}

/// The rows that the network of the flags gives to each example, with progress over the examples.
/// The processes of `group` share the work. A rank above 0 gives no store and no examples, and gets
/// no rows.
std::vector<std::vector<ScoreRow>> rows_by_network(const ScoreFlags& flags, Store* store,
                                                   Group* group, ProgressStyle style,
                                                   const std::vector<ScoredExample>& examples) {
  Checkpoint checkpoint = load_checkpoint(flags.model, true);
  const std::string network = model_row(store, checkpoint).hash;
  AnswerLikelihood likelihood(checkpoint, flags.chat_template, network);
  Progress progress(style, "answers", std::ssize(examples));
  const auto show = [&](std::int64_t done) { progress.update(done, ""); };
  std::vector<std::vector<ScoreRow>> rows;
  if (group) {
    rows = share_likelihoods(*group, examples, std::ref(likelihood), network, show);
    show(std::ssize(examples));
    return rows;
  }
  for (const ScoredExample& example : examples) {
    rows.push_back(likelihood(example));
    show(std::ssize(rows));
  }
  return rows;
}

/// The answers of runs that carry scores, in the order in which rescore() scores them.
std::vector<ScoredExample> answers_of(Store& store, const std::vector<RunSummary>& runs,
                                      const TaskMetric* metric) {
  std::vector<ScoredExample> examples;
  for (const RunSummary& run : runs)
    if (!run.run.oracle)
      rescore(store, run.run, {metric}, [&](const ScoredExample& example) {
        examples.push_back(example);
        return std::vector<ScoreRow>();
      });
  return examples;
}

/// ConfigError: a metric finds nothing to score on any dataset.
template <typename Asked>
void check_fit(const std::vector<RunSummary>& runs, const std::vector<Rescored>& all,
               const Asked& metrics_asked) {
  std::map<const TaskMetric*, std::string> unfit;  // with the first dataset
  std::set<const TaskMetric*> fit;
  for (size_t r = 0; r < runs.size(); ++r) {
    if (runs[r].run.oracle) continue;
    for (const TaskMetric* metric : metrics_asked(runs[r].run))
      if (std::find(all[r].unfit.begin(), all[r].unfit.end(), metric) == all[r].unfit.end())
        fit.insert(metric);
      else
        unfit.emplace(metric, runs[r].run.dataset.name);
  }
  for (const auto& [metric, dataset] : unfit)
    if (!fit.contains(metric))
      throw ConfigError(str("--metric ", metric->name, ": the examples of ", dataset, " have no ",
                            metric->needs, "; leave the metric out"));
}

int score(const ScoreFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  const std::vector<const TaskMetric*> asked = metrics_named(flags);
  const auto likelihood = std::find_if(asked.begin(), asked.end(), by_network);
  ProgressStyle style = ProgressStyle::automatic;
  const auto group = join_group(style);
  if (group && likelihood == asked.end())
    throw ConfigError("several processes share only --metric likelihood; start one process");
  if (group && group->rank() > 0) {
    rows_by_network(flags, nullptr, group.get(), style, {});
    return 0;
  }
  { Store exists(flags.db, {.read_only = true}); }  // never creates a database
  Store store(flags.db);
  const std::string invocation = find_invocation(store, flags.run);
  Table table;
  table.title = str("Scores of run ", invocation.substr(0, 8));
  table.columns = with_dataset({{"arm"},
                                {"metric"},
                                {"score", Align::right},
                                {"n", Align::right},
                                {"changed", Align::right}});
  std::vector<RunSummary> runs;  // including all shards
  std::vector<std::string> shards;
  for (const auto& shard : store.shards_of(invocation)) {
    for (auto& run : runs_of(store, shard)) runs.push_back(std::move(run));
    shards.push_back(runs.back().run.shard);
  }
  const auto metrics_asked = [&](const RunRow& run) {
    return asked.empty() ? metrics_of(stored_dataset(run.dataset.name)) : asked;
  };
  std::vector<std::vector<ScoreRow>> likelihoods;
  if (likelihood != asked.end())
    likelihoods =
        rows_by_network(flags, &store, group.get(), style, answers_of(store, runs, *likelihood));
  auto next = likelihoods.begin();
  std::vector<Rescored> all;
  for (const auto& run : runs)  // all scores are computed before any is stored
    all.push_back(run.run.oracle
                      ? Rescored()
                      : rescore(store, run.run, metrics_asked(run.run),
                                [&](const ScoredExample&) { return std::move(*next++); }));
  check_fit(runs, all, metrics_asked);
  std::set<std::pair<std::string, std::string>> told;
  std::set<std::pair<std::string, const TaskMetric*>> noted;
  for (const auto& run : runs) {
    const RunRow& row = run.run;
    if (!told.emplace(row.dataset.name, row.label).second) continue;
    if (row.oracle) {
      table.notes.push_back(str(row.dataset.name, " ", row.label, ": oracle ", *row.oracle,
                                ", its answers were forced and carry no score."));
      continue;
    }
    Rescored whole;  // of all its shards
    for (size_t r = 0; r < runs.size(); ++r) {
      if (runs[r].run.dataset.name != row.dataset.name || runs[r].run.label != row.label) continue;
      whole.generations.insert(whole.generations.end(), all[r].generations.begin(),
                               all[r].generations.end());
      for (const auto& [metric, changed] : all[r].changed) whole.changed[metric] += changed;
    }
    const ScoreTable scores = score_table(whole.generations);
    const auto metrics = metrics_asked(row);
    const auto& unfit = all[static_cast<size_t>(&run - runs.data())].unfit;
    for (const TaskMetric* metric : unfit)
      if (noted.emplace(row.dataset.name, metric).second)
        table.notes.push_back(str("no ", metric->name, " of ", row.dataset.name,
                                  ": its examples have no ", metric->needs, "."));
    for (const TaskMetric* metric : metrics)
      for (const MetricTotal& total : metric->total(scores))
        table.rows.push_back(
            with_dataset(dataset_cells(row.dataset),
                         {row.label, std::string(total.name), number_cell(total.value, 4),
                          number_cell(total.count), number_cell(whole.changed[metric])}));
    if (const std::string outside = outside_rouge(scores); !outside.empty())
      table.notes.push_back(str(row.dataset.name, " ", row.label, ": ", outside,
                                "; --metric rouge_unicode counts words of all scripts."));
    if (metrics.empty())
      table.notes.push_back(str(row.dataset.name, " ", row.label,
                                ": its metrics need a judge or run code, and are not among those "
                                "of this verb by default."));
  }
  if (std::all_of(runs.begin(), runs.end(), [](const auto& run) { return run.run.oracle; }))
    throw ConfigError(str("run ", invocation.substr(0, 8), " was made under oracle ",
                          *runs.front().run.oracle,
                          ": its answers were forced and carry no score; give another --run"));
  std::vector<AnswerScores> scores;
  for (const auto& run : all)
    for (const auto& generation : run.generations)
      scores.push_back({generation.row.id, generation.row.scores});
  store.put_scores(scores);
  if (!shards.front().empty()) table.notes.push_back(shard_note(join(shards, ", ")));
  table.notes.push_back(
      "n: answers with the score; changed: scores that are new, or that differ from those stored "
      "before.");
  if (likelihood != asked.end())
    table.notes.push_back(
        str("log_likelihood: natural logarithm, mean over the ids of the answers' text, under ",
            flags.model.model,
            "; text that repeats itself is likely, too: read it together with repetition."));
  if (const std::string note = untrained_note(runs); !note.empty()) table.notes.push_back(note);
  print_table(table, format);
  return 0;
}

}  // namespace

Verb score_verb() {
  return {
      "score",
      "compute scores of stored answers, without running the model",
      "pardec score --db r.sqlite\n  pardec score --db r.sqlite --metric exact_match,rouge\n  "
      "pardec score --db r.sqlite --metric likelihood --model model\n  "
      "mpirun -n 2 pardec score --db r.sqlite --metric likelihood --model model",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<ScoreFlags>();
        app.add_option("--db", flags->db, "database; scores are stored in it")
            ->capture_default_str()
            ->type_name("FILE");
        app.add_option("--run", flags->run,
                       "name of a run, or the first characters of its id; without it the "
                       "newest")
            ->type_name("ID");
        std::string names;
        for (const auto& metric : task_metrics())
          if (!metric.by<ByJudge>())
            names += str("\n", metric.name, ": ", with_flags_of({"model"}, metric.what), ".");
        app.add_option("--metric", flags->metrics,
                       "metrics, with commas between them; without it the dataset's own." + names)
            ->delimiter(',')
            ->type_name("NAME");
        app.add_option(
               "--model", flags->model.model,
               "likelihood: checkpoint folder of the network, e.g. the one before fine-tuning")
            ->transform(checkpoint_path)
            ->type_name("DIR");
        app.add_option("--chat-template", flags->chat_template,
                       "likelihood: markup around its questions: auto (the checkpoint's own, "
                       "else plain) or a built-in one")
            ->capture_default_str()
            ->type_name("NAME");
        app.add_option("--dtype", flags->model.dtype, "likelihood: as run --dtype")
            ->capture_default_str()
            ->type_name("TYPE");
        app.add_option("--device", flags->model.device, "likelihood: cpu, cuda or cuda:I")
            ->capture_default_str()
            ->type_name("DEVICE");
        app.add_option("--threads", flags->model.threads, "likelihood: CPU threads; 0: all cores")
            ->capture_default_str()
            ->type_name("N");
        add_format(app, flags->format);
        return [flags] { return score(*flags); };
      },
      {},
      {},
      {"--model"},
      /*several_processes=*/true};
}

}  // namespace pardec
