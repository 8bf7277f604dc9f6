#include "src/settings/run_settings.hpp"

#include <array>
#include <utility>

#include "datasets/dataset.hpp"
#include "decoders/decoder.hpp"
#include "src/prompt/chat_template.hpp"
#include "src/runs/arms.hpp"
#include "src/runs/baseline_arms.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Keys of an experiment that are handled here and not by the table.
constexpr std::array kExperimentKeys{"name",   "decoders", "datasets", "model",
                                     "models", "grid",     "published"};

/// "2%" or "0.02". ConfigError, naming the setting: not between 0 and 1 (exclusive).
double parse_share(const std::string& setting, const std::string& text) {
  const bool percent = text.ends_with('%');
  const auto number = number_in<double>(text.substr(0, text.size() - percent));
  const double value = number.value_or(0) / (percent ? 100 : 1);
  if (!(value > 0 && value < 1))
    throw ConfigError(
        str("`", setting, "` is '", text, "', expected a share above 0, e.g. 2% or 0.02"));
  return value;
}

/// Expands the arms into cells.
void lay_grid(const RunSettings& settings, RunSpec& spec) {
  const std::vector<GridAxis> grid =
      settings.grid.empty() ? settings.axes : parse_grid(settings.grid);
  if (grid.empty())
    throw ConfigError(
        "sweep: no grid was given, expected `grid=KEY=V1,V2...` or 'grid' in the file of -c; "
        "`pardec run` runs arms without one");
  GridCells cells = expand_grid(spec.arms, grid);
  spec.grid = true;
  spec.arms = std::move(cells.arms);
  spec.refused = std::move(cells.refused);
  for (const GridAxis& axis : grid) spec.given["grid"][axis.key] = axis.values;
  if (!settings.target_ci.empty()) spec.target_ci = parse_share("target_ci", settings.target_ci);
}

/// The rows for datasets and the selection of examples.
Settings data_settings(RunSettings& s) {
  return {
      {"dataset",
       "A,B",
       &s.spec.datasets,
       "datasets ('pardec list datasets'), and files of your own: NAME=FILE.jsonl, or "
       "NAME=FILE.csv:COLUMN with prompts in that column (NAME=FILE.csv:COLUMN:COLUMN with "
       "references, too)",
       {.commas = true}},
      {"answer_tokens", "NAME=N", &s.answer_tokens,
       "limit of generated tokens per answer on dataset NAME; takes precedence over "
       "`max_new_tokens` and `per_field`; repeatable"},
      {"strict_columns", "", &s.spec.strict_columns,
       "for your own files: an unknown column is an error instead of a note"},
      {"data_root", "DIR", &s.spec.data_root,
       "folder with the published datasets, one subfolder each; default: the project's small "
       "samples"},
      {"split", "NAME", &s.spec.split,
       "split to use, e.g. train or test; default: each dataset's evaluation split"},
      {"limit",
       "N",
       &s.spec.limit,
       "number of examples of each dataset, drawn at random (`seed`) and spread over categories; "
       "0: all",
       {.range = at_least(0)}},
      {"offset",
       "N",
       &s.spec.offset,
       "skip the first N examples of the sample that `limit` draws",
       {.range = at_least(0)}},
      {"shots",
       "N",
       &s.spec.shots,
       "number of few-shot examples from the train split (if there is none, from the evaluated "
       "split); before open prompts and JSON answers to all attributes they are earlier turns; "
       "default: as in the dataset's protocol",
       {.range = at_least(0)}},
      {"unseen", "", &s.spec.unseen, "leave out examples whose text is also in the train split"},
  };
}

/// The rows for measuring and storing.
Settings measuring_settings(RunSettings& s) {
  return {
      {"batch_size",
       "N",
       &s.batch_size,
       "number of jobs that run at the same time (for one arm: batch_size in `arm`); a job has the "
       "examples that its decoder stacks, e.g. one context with its questions for ar "
       "ask=separately, or 6 contexts for ippd",
       {.range = at_least(1)}},
      {"block",
       "N",
       &s.spec.block,
       "number of examples that an arm answers before the next arm's turn; 0: chosen so that "
       "batches are mostly full and there are at least six blocks",
       {.range = at_least(0)}},
      {"cache_blocks",
       "N",
       &s.spec.cache.blocks,
       "limit of the KV cache of all running jobs, in blocks of 16 rows; 0: no limit",
       {.range = at_least(0)}},
      {"cache_watermark",
       "X",
       &s.spec.cache.watermark,
       "share of `cache_blocks` that is kept free when a job starts",
       {.range = share_below_1()}},
      {"warmup",
       "N",
       &s.spec.warmup,
       "jobs that each arm runs before measuring begins; they are not stored",
       {.range = at_least(0)}},
      {"repair",
       "N",
       &s.spec.repair,
       "measure up to N blocks of each dataset again that other programs disturbed; with `resume` "
       "also for a finished run; both times are stored",
       {.range = at_least(0)}},
      {"runs",
       "N",
       &s.spec.runs,
       "number of times that each arm answers each example",
       {.range = at_least(1)}},
      {"order",
       "ORDER",
       &s.spec.order,
       "interleaved: arms take turns block by block; blocked: one arm after the other (less "
       "memory, but speeds are less comparable)",
       {.choices = {"interleaved", "blocked"}}},
      {"baseline", "LABEL", &s.spec.baseline,
       "label of the arm that the others are compared with; default: an ar that asks in the same "
       "way as the arm"},
      {"oracle", "KIND", &s.oracle,
       "measure speed on any weights: force the reference answers (references) or the tokens of a "
       "stored run (recorded:RUN); or accept guesses at given rates (accept:A[,A...]), or so that "
       "a pass gives L tokens on average (accept-length:L), or as often as published "
       "(accept-curve:FILE:NETWORK)"},
      db_setting(s.spec.db),
      {"fresh",
       "",
       &s.fresh,
       "start a new sweep, even if the database has one with the same settings",
       {.only = "sweep"}},
      {"retry_errors", "", &s.spec.retry_errors, "also repeat jobs that failed", {.only = "sweep"}},
      {"dry_run",
       "",
       &s.output.dry_run,
       "print the cells with their time and memory, as measured by an earlier sweep, otherwise "
       "with a batch of their first jobs",
       {.only = "sweep"}},
      {"slurm",
       "FILE.sbatch",
       &s.output.slurm,
       "like `dry_run`; also write the script of a job array that runs this sweep on a cluster "
       "with Slurm, and FILE.merge.sbatch, which merges the results (experiments/cluster.md)",
       {.in_file = false, .only = "sweep"}},
      {"slurm_tasks",
       "N",
       &s.output.slurm_tasks,
       "for `slurm`: number of tasks of the array; each runs every N-th block with all cells; "
       "default: 8",
       {.range = at_least(1), .in_file = false, .only = "sweep"}},
      {"resume", "", &s.spec.resume, "continue the newest run of these arms", {.only = "run"}},
      {"retry_errors",
       "",
       &s.spec.retry_errors,
       "with `resume`: also repeat jobs that failed",
       {.only = "run"}},
      {"dry_run",
       "",
       &s.output.dry_run,
       "only print the plan: blocks, how full batches are, jobs that exceed the network's context "
       "length",
       {.only = "run"}},
      {"shard", "I/N", &s.shard, "run only every N-th block, beginning with block I (from 0)"},
      {"fail_on_error",
       "X",
       &s.output.fail_on_error,
       "exit code 3 if a larger share of answers than X failed",
       {.range = share()}},
      {"trace", "FILE", &s.spec.trace,
       "write a trace: for every row its position, the rows it attends to and its choice (slow)"},
  };
}

Settings only_for(std::string_view verb, Settings rows) {
  for (Setting& row : rows) row.traits.only = verb;
  return rows;
}

/// The rows of both verbs.
Settings all_rows(RunSettings& s) {
  Settings rows{
      {"grid",
       "KEY=V1,V2...",
       &s.grid,
       "values of a setting of one decoder or arm (hpd.k_max), or of all arms (batch_size, "
       "cache_blocks, seed, model); several flags give all combinations",
       {.in_file = false, .only = "sweep"}},
      {"target_ci",
       "SHARE",
       &s.target_ci,
       "stop a cell when half the width of its speedup's interval is at most this share of the "
       "speedup, e.g. 2%; not before 6 blocks",
       {.number_too = true, .only = "sweep"}},
      {"decoder",
       "A,B",
       &s.decoders,
       "decoders to compare, with their default options, e.g. ar,hpd; each becomes an arm",
       {.commas = true}},
      {"arm", "LABEL=NAME[,OPTION=VALUE...]", &s.arms,
       "an arm with a label and options that you choose, e.g. hpd8=hpd,k_max=8; model=DIR, "
       "adapter=DIR and draft=DIR set its networks; repeatable"},
      {"set", "KEY=VALUE", &s.sets,
       "an option for all arms of a decoder, e.g. hpd.k_max=30; repeatable"},
  };
  const auto append = [&](const Settings& more) {
    rows.insert(rows.end(), more.begin(), more.end());
  };
  append(data_settings(s));
  append(measuring_settings(s));
  append({format_setting(s.output.format)});
  append(columns_settings(s.output.columns));
  append({{"matrix", "", &s.output.matrix,
           "print the table with one row for each arm and one column for each dataset"}});
  append(only_for("run", {hardware_setting(s.output.hardware)}));
  append({strict_setting(s.output.strict), progress_setting(s.progress)});
  append(model_settings(s.spec.model));
  append({parallel_setting(s.spec.model)});
  append(decode_settings(s.spec.decode));
  append({{"judge",
           "FILE",
           &s.output.judge,
           "after the run, ask a judge for the scores that need one; FILE describes the service "
           "(results/judges.md)",
           {.only = "run"}}});
  return rows;
}

template <typename Entries>
OrderedJson enumeration(const Entries& entries) {
  OrderedJson names = OrderedJson::array();
  for (const auto& entry : entries) names.push_back(entry.name);
  return {{"type", "string"}, {"enum", names}};
}

OrderedJson text_schema(const char* description) {
  return {{"type", "string"}, {"description", description}};
}

}  // namespace

void check(const OutputSettings& output) {
  parse_table_format(output.format);
  check_columns(output.columns);
}

Settings settings_of(RunSettings& settings) {
  const std::string_view verb = settings.sweep ? "sweep" : "run";
  Settings rows = all_rows(settings);
  std::erase_if(rows, [&](const Setting& row) {
    return !row.traits.only.empty() && row.traits.only != verb;
  });
  return rows;
}

std::set<std::string> read_experiment(const Json& json, const std::string& where,
                                      RunSettings& settings, const std::set<std::string>& given) {
  const std::set<std::string> read = read_settings(
      settings_of(settings), json, where, {kExperimentKeys.begin(), kExperimentKeys.end()}, given);
  if (json.contains("grid") && !settings.sweep)
    throw ConfigError(
        str(where, ": 'grid' is run by `pardec sweep`, expected none here; use sweep -c, or ",
            "take it out"));
  if (json.contains("published"))
    throw ConfigError(str(where,
                          ": 'published' is for experiments that `run` cannot do; expected "
                          "models and a list of decoders"));
  JsonReader reader(json, where);
  settings.spec.name = reader.optional<std::string>("name", settings.spec.name);
  const Json models = json.value("models", Json());
  if (settings.spec.model.model.empty())
    settings.spec.model.model =
        folder_of_experiment(models, reader.optional<std::string>("model", ""), where);
  if (settings.spec.datasets.empty()) {
    settings.spec.datasets = reader.optional<std::vector<std::string>>("datasets", {});
    for (const auto& name : settings.spec.datasets) try {
        if (!parse_own_file(name)) find_dataset(name);
      } catch (const ConfigError& error) {
        throw ConfigError(str(reader.where("datasets"), ": ", error.what()));
      }
  }
  if (settings.sweep) settings.axes = grid_of_experiment(json.value("grid", Json()), models, where);
  if (settings.decoders.empty() && settings.arms.empty() && json.contains("decoders"))
    settings.arms = arms_of_experiment(json["decoders"], models, where);
  return read;
}

RunSettings read_run_settings(const Json& json, const std::string& where, bool sweep) {
  RunSettings settings{.sweep = sweep};
  read_experiment(json, where, settings);
  return settings;
}

Json json_of(const RunSettings& settings) {
  RunSettings copy = settings;
  Json json = json_of(settings_of(copy));
  json["name"] = settings.spec.name;
  json["model"] = settings.spec.model.model;
  const std::vector<GridAxis> grid =
      settings.grid.empty() ? settings.axes : parse_grid(settings.grid);
  for (const GridAxis& axis : grid) json["grid"][axis.key] = axis.values;
  return json;
}

OrderedJson experiment_schema() {
  std::vector<DecoderEntry> named = decoders();
  named.push_back(service_decoder());
  const OrderedJson decoder = enumeration(named), dataset = enumeration(datasets());
  const OrderedJson value = {{"type", {"string", "number", "boolean"}}};
  OrderedJson arm = OrderedJson::object();
  arm["name"] = decoder;
  arm["label"] = {{"type", "string"},
                  {"pattern", "^[^,=]+$"},
                  {"description", "label of the arm; without it the decoder's name"}};
  arm["model"] = text_schema(
      "the arm's own checkpoint: a folder, or its name in models; without it the one above");
  arm["adapter"] =
      text_schema("an adapter over it, low-rank or extra heads: a folder, or its name in models");
  arm["draft"] = text_schema("the same for the network that drafts for it");
  arm["set"] = {{"type", "object"},
                {"description", "options of the decoder, and batch_size"},
                {"additionalProperties", value}};
  OrderedJson properties = OrderedJson::object();
  properties["name"] = text_schema("name of the experiment, stored with its runs");
  properties["model"] = text_schema("checkpoint folder, or its name in models");
  properties["models"] = {{"type", "object"},
                          {"description", "names of checkpoint folders"},
                          {"additionalProperties", {{"type", "string"}}}};
  properties["datasets"] = {{"type", "array"}, {"minItems", 1}, {"items", dataset}};
  properties["decoders"] = {{"type", "array"},
                            {"minItems", 1},
                            {"description", "the arms"},
                            {"items",
                             {{"type", "object"},
                              {"required", OrderedJson::array({"name"})},
                              {"additionalProperties", false},
                              {"properties", arm}}}};
  properties["grid"] = {
      {"type", "object"},
      {"description",
       "of sweep: values of settings, e.g. hpd.k_max or batch_size; every combination is run"},
      {"additionalProperties",
       {{"type", "array"}, {"minItems", 1}, {"uniqueItems", true}, {"items", value}}}};
  for (const bool sweep : {false, true}) {
    RunSettings settings{.sweep = sweep};
    const OrderedJson of_verb = schema_properties(settings_of(settings));
    for (const auto& [key, property] : of_verb.items()) {
      if (properties.contains(key)) continue;
      OrderedJson& added = properties[key] = property;
      // The known names.
      for (const auto& [name, names] : {std::pair{"decoder", decoder}, {"dataset", dataset}})
        if (key == name) added["anyOf"] = {names, {{"type", "array"}, {"items", names}}};
    }
  }
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "Experiment of pardec run -c and sweep -c"},
          {"description",
           "Keys are flags of `pardec run` or `pardec sweep` with _ for -; a flag on the command "
           "line beats the file."},
          {"type", "object"},
          {"additionalProperties", false},
          {"properties", properties}};
}

RunSpec make_run_spec(const RunSettings& settings) {
  RunSettings checked = settings;
  check_settings(settings_of(checked));
  if (settings.fresh && settings.spec.retry_errors)
    throw ConfigError(
        "`retry_errors` repeats failed jobs of the sweep that continues, and `fresh` begins a new "
        "one; leave one out");
  RunSpec spec = settings.spec;
  spec.answer_limits = parse_answer_limits(settings.answer_tokens);
  spec.go_on = settings.sweep && !settings.fresh;
  check(spec);
  spec.shard = parse_shard(settings.shard);
  spec.progress = parse_progress_style(settings.progress);
  spec.oracle = parse_oracle(settings.oracle, "`oracle`");
  spec.decode.sampling();
  check_chat_template(spec.decode.chat_template, spec.decode.chat_set);
  spec.arms = make_arms(settings.decoders, settings.arms, settings.sets, settings.batch_size);
  spec.given = {{"arms", settings.arms}, {"decoders", settings.decoders}};
  if (settings.add_baselines) add_baselines(spec);
  if (settings.sweep) lay_grid(settings, spec);
  check_arms(spec, [&](Arm& arm) {
    take_trained_options(arm, read_training_record(texts_folder(networks_of(spec, arm))).settings);
    give_oracle(arm, spec.oracle);
  });
  check_oracle_used(spec);
  for (size_t a = 0; a < spec.arms.size(); ++a) baseline_of(spec.arms, a, spec.baseline);
  return spec;
}

}  // namespace pardec
