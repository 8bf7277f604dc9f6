#include "src/cli/run_flags.hpp"

#include <CLI/CLI.hpp>
#include <array>

#include "datasets/dataset.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/common_flags.hpp"
#include "src/cli/data_flags.hpp"
#include "src/cli/table_output.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/runs/arms.hpp"
#include "src/runs/baseline_arms.hpp"
#include "src/support/checks.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Keys of an experiment file that are no flags of `run`.
constexpr std::array kExperimentKeys{"name",   "decoders", "datasets", "model",
                                     "models", "grid",     "published"};

/// "2%" or "0.02". ConfigError, which names the flag, for what is not above 0 and below 1.
double parse_share(const std::string& flag, const std::string& text) {
  const bool percent = text.ends_with('%');
  const auto number = number_in<double>(text.substr(0, text.size() - percent));
  const double value = number.value_or(0) / (percent ? 100 : 1);
  if (!(value > 0 && value < 1))
    throw ConfigError(str(flag, " is '", text, "', expected a share above 0, e.g. 2% or 0.02"));
  return value;
}

/// Makes cells of the arms.
void lay_grid(RunFlags& flags) {
  RunSpec& spec = flags.spec;
  const std::vector<GridAxis> grid =
      flags.grid.empty() ? flags.grid_of_file : parse_grid(flags.grid);
  if (grid.empty())
    throw ConfigError(
        "sweep: no grid was given, expected --grid KEY=V1,V2... or 'grid' in the file of -c; "
        "`pardec run` runs arms without one");
  GridCells cells = expand_grid(spec.arms, grid);
  spec.grid = true;
  spec.arms = std::move(cells.arms);
  spec.refused = std::move(cells.refused);
  for (const GridAxis& axis : grid) spec.given["grid"][axis.key] = axis.values;
  if (!flags.target_ci.empty()) spec.target_ci = parse_share("--target-ci", flags.target_ci);
}

}  // namespace

void add_flags(CLI::App& app, RunFlags& flags) {
  if (flags.sweep) {
    app.add_option("--grid", flags.grid,
                   "values that a setting takes: of the arms of a decoder or label (hpd.k_max), or "
                   "of all that have it (batch_size, cache_blocks, seed, model); several multiply")
        ->type_name("KEY=V1,V2...");
    app.add_option("--target-ci", flags.target_ci,
                   "stop a cell where half of its speedup's interval is at most this share of it, "
                   "e.g. 2%; not before 6 blocks")
        ->type_name("SHARE");
  }
  app.add_option("--decoder", flags.decoders, "decoders, each an arm of that name, e.g. ar,hpd")
      ->delimiter(',')
      ->type_name("A,B");
  app.add_option("--arm", flags.arms,
                 "an arm of its own label and options, and with model=DIR, adapter=DIR or "
                 "draft=DIR on networks "
                 "of its own; repeatable")
      ->type_name("LABEL=NAME[,OPTION=VALUE...]");
  app.add_option("--set", flags.sets,
                 "an option for all arms of a decoder, e.g. hpd.k_max=30; repeatable")
      ->type_name("KEY=VALUE");
  add_data_flags(app, flags);
  app.add_option("--batch-size", flags.batch_size,
                 "jobs in flight (an arm's own: batch_size in --arm); a job has the examples "
                 "that the decoder stacks: one context and its questions for ar "
                 "ask=separately, 6 of them for ippd; the table's streams are the answers that "
                 "this comes to")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--block", flags.spec.block,
                 "examples that one arm does before the next one's turn; 0: so many that batches "
                 "are full for three quarters of their jobs, but six blocks where there can be, "
                 "and as many as there are shards")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--cache-blocks", flags.spec.cache.blocks,
                 "blocks of 16 rows of KV cache that jobs in flight may hold; 0: no limit")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--cache-watermark", flags.spec.cache.watermark,
                 "share of them left free where one more job is taken in")
      ->capture_default_str()
      ->type_name("X");
  app.add_option("--warmup", flags.spec.warmup, "unrecorded jobs an arm before the first")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--repair", flags.spec.repair,
                 "of each dataset, measure up to N blocks again that others disturbed, also of a "
                 "run that is done (--resume); both times are stored and shown")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--runs", flags.spec.runs, "repeats of everything")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--order", flags.spec.order,
                 "interleaved (arms alternate block by block) or blocked")
      ->capture_default_str()
      ->type_name("ORDER");
  app.add_option("--baseline", flags.spec.baseline,
                 "label of the arm that the others are compared with; without it ar, as each needs")
      ->type_name("LABEL");
  app.add_option("--oracle", flags.oracle,
                 "force what is chosen, to measure speed on any weights: references, recorded:RUN, "
                 "accept:A[,A...], accept-length:L or accept-curve:FILE:NETWORK")
      ->type_name("KIND");
  app.add_option("--db", flags.spec.db, "database")->capture_default_str()->type_name("FILE");
  if (flags.sweep) {
    app.add_flag("--fresh", flags.fresh,
                 "begin anew, also where the database has a sweep of the same settings to go on "
                 "with");
    app.add_flag("--retry-errors", flags.spec.retry_errors, "also repeat jobs that failed");
    app.add_flag("--dry-run", flags.dry_run,
                 "print the cells, how long each would take and what memory: by those of the "
                 "database, else by a batch of its first jobs");
  } else {
    app.add_flag("--resume", flags.spec.resume, "go on where the newest run of these arms stopped");
    app.add_flag("--retry-errors", flags.spec.retry_errors,
                 "with --resume: also repeat jobs that failed");
    app.add_flag("--dry-run", flags.dry_run,
                 "print what would be done: blocks, how full batches are, jobs that overflow the "
                 "network's context");
  }
  app.add_option("--shard", flags.shard, "do every N-th block only, beginning with I")
      ->type_name("I/N");
  app.add_option("--fail-on-error", flags.fail_on_error,
                 "exit code 3 when a larger share of answers failed")
      ->capture_default_str()
      ->type_name("X");
  app.add_option("--trace", flags.spec.trace, "write what every fed token saw and chose (slow)")
      ->type_name("FILE");
  add_format(app, flags.format);
  add_columns(app, flags.columns);
  app.add_flag("--matrix", flags.matrix, "the table with one row an arm and one column a dataset");
  if (!flags.sweep) add_hardware(app, flags.hardware);
  add_strict(app, flags.strict);
  app.add_option("--progress", flags.progress, "auto, bar, plain or none")
      ->capture_default_str()
      ->type_name("STYLE");
  app.add_option("-c,--config", flags.config, "an experiment file (experiments/*.json)")
      ->type_name("FILE");
  add_flags(app, flags.spec.model);
  add_flags(app, flags.spec.decode);
}

void read_experiment(CLI::App& app, const Json& json, const std::string& where, RunFlags& flags) {
  apply_config(app, json, where, {kExperimentKeys.begin(), kExperimentKeys.end()});
  if (json.contains("grid") && !flags.sweep)
    throw ConfigError(
        str(where, ": 'grid' is run by `pardec sweep`, expected none here; use sweep -c, or ",
            "take it out"));
  if (json.contains("published"))
    throw ConfigError(str(where,
                          ": 'published' is for experiments that `run` cannot do; expected "
                          "models and a list of decoders"));
  JsonReader read(json, where);
  flags.spec.name = read.optional<std::string>("name", flags.spec.name);
  const Json models = json.value("models", Json());
  if (flags.spec.model.model.empty())
    flags.spec.model.model =
        folder_of_experiment(models, read.optional<std::string>("model", ""), where);
  if (flags.spec.datasets.empty()) {
    flags.spec.datasets = read.optional<std::vector<std::string>>("datasets", {});
    for (const auto& name : flags.spec.datasets) try {
        if (!parse_own_file(name)) find_dataset(name);
      } catch (const ConfigError& error) {
        throw ConfigError(str(read.where("datasets"), ": ", error.what()));
      }
  }
  if (flags.sweep)
    flags.grid_of_file = grid_of_experiment(json.value("grid", Json()), models, where);
  if (flags.decoders.empty() && flags.arms.empty() && json.contains("decoders"))
    flags.arms = arms_of_experiment(json["decoders"], models, where);
}

void complete(CLI::App& app, RunFlags& flags) {
  if (!flags.config.empty()) read_experiment(app, read_json(flags.config), flags.config, flags);
  flags.spec.argv = command_arguments(app);
  finish(flags);
}

void finish(RunFlags& flags) {
  RunSpec& spec = flags.spec;
  check_at_least("--batch-size", flags.batch_size, 1);
  if (flags.fresh && spec.retry_errors)
    throw ConfigError(
        "--retry-errors repeats failed jobs of the sweep that goes on, and --fresh begins anew; "
        "leave one out");
  spec.go_on = flags.sweep && !flags.fresh;
  spec.answer_limits = parse_answer_limits(flags.answer_tokens);
  check(spec);
  check_share("--fail-on-error", flags.fail_on_error);
  spec.shard = parse_shard(flags.shard);
  spec.progress = parse_progress_style(flags.progress);
  spec.oracle = parse_oracle(flags.oracle, "--oracle");
  parse_table_format(flags.format);
  check_columns(flags.columns);
  spec.decode.sampling();
  check_chat_template(spec.decode.chat_template, spec.decode.chat_set);
  spec.arms = make_arms(flags.decoders, flags.arms, flags.sets, flags.batch_size);
  spec.given = {{"arms", flags.arms}, {"decoders", flags.decoders}};
  if (flags.add_baselines) add_baselines(spec);
  if (flags.sweep) lay_grid(flags);
  check_arms(spec, [&](Arm& arm) {
    take_taught_options(arm, read_training_record(texts_folder(networks_of(spec, arm))).settings);
    give_oracle(arm, spec.oracle);
  });
  check_oracle_used(spec);
  for (size_t a = 0; a < spec.arms.size(); ++a) baseline_of(spec.arms, a, spec.baseline);
}

}  // namespace pardec
