// `pardec data`: lists datasets, and checks their files.
#include "src/cli/data.hpp"

#include <iostream>
#include <memory>

#include "datasets/published_counts.hpp"
#include "src/cli/command_line.hpp"
#include "src/cli/table_output.hpp"
#include "src/report/dataset_name.hpp"
#include "src/report/table.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::vector<const DatasetEntry*> chosen_datasets(const DataFlags& flags) {
  std::vector<const DatasetEntry*> chosen;
  for (const auto& name : flags.datasets) chosen.push_back(&find_dataset(name));
  if (chosen.empty())
    for (const auto& entry : datasets())
      if (flags.data_root.empty() || dataset_folder(entry, flags.data_root))
        chosen.push_back(&entry);
  if (chosen.empty())
    throw ConfigError(str("--data-root ", flags.data_root,
                          " has no folder of a dataset; 'pardec list datasets' names them"));
  return chosen;
}

void each_split(const DataFlags& flags,
                const std::function<void(const DatasetEntry&, const Dataset&)>& seen) {
  DataFlags published = flags;
  std::erase_if(published.datasets,
                [](const std::string& name) { return parse_own_file(name).has_value(); });
  if (!published.datasets.empty() || flags.datasets.empty())
    for (const DatasetEntry* entry : chosen_datasets(published))
      for (const Dataset& dataset : load_splits(*entry, flags)) seen(*entry, dataset);
  for (const std::string& name : flags.datasets)
    if (const auto own = parse_own_file(name)) seen(stored_dataset(own->name), load_own_file(*own));
}

void check_targets(const DataFlags& flags, std::string_view action,
                   const std::vector<std::string>& names) {
  if (flags.datasets.empty())
    throw ConfigError(str("data ", action, ": no dataset was named; known: ", join(names, ", ")));
  if (flags.data_root.empty())
    throw ConfigError(str("data ", action,
                          ": no --data-root DIR, expected the folder that gets one folder a "
                          "dataset"));
}

// Exit code 2 if a run would reject a record.
int check_data(const DataFlags& flags) {
  const TableFormat format = parse_table_format(flags.format);
  Table table, findings;
  table.title = "Data check";
  table.columns = with_dataset({{"split"},
                                {"state"},
                                {"examples", Align::right},
                                {"fields", Align::right},
                                {"faults", Align::right},
                                {"notes", Align::right}});
  findings.title = "Findings";
  findings.columns = {{"dataset"}, {"split"}, {"kind"}, {"finding"}};
  bool bad = false;
  for (const DatasetEntry* entry : chosen_datasets(flags)) {
    std::vector<Inspection> inspections;
    const std::vector<Dataset> splits = load_splits(*entry, flags, &inspections);
    for (std::size_t i = 0; i < splits.size(); ++i) {
      const Dataset& dataset = splits[i];
      Inspection& found = inspections[i];
      if (std::string fewer = fewer_than_published(dataset); !fewer.empty())
        found.notes.push_back(std::move(fewer));
      std::int64_t fields = 0;
      for (const auto& example : dataset.examples) fields += std::ssize(example.fields);
      bad = bad || !found.faults.empty();
      table.rows.push_back(with_dataset(
          dataset_cells(dataset),
          {dataset.split, found.faults.empty() ? "good" : "BAD",
           number_cell(std::ssize(dataset.examples)), number_cell(fields),
           number_cell(std::ssize(found.faults)), number_cell(std::ssize(found.notes))}));
      for (const auto& [kind, texts] :
           {std::pair{"fault", &found.faults}, std::pair{"note", &found.notes}})
        for (const auto& text : *texts)
          findings.rows.push_back({dataset.name, dataset.split, kind, text});
    }
  }
  table.notes = {
      "fault: a record that is left out here, and that makes a run fail; note: a record that is "
      "read in spite of it, or fewer records than the publisher's."};
  TablePrinter printer(format);
  printer.print(table);
  if (!findings.rows.empty()) printer.print(findings);
  printer.finish();
  return bad ? 2 : 0;
}

Verb data_verb() {
  return {
      "data",
      "fetch, check and describe datasets",
      "pardec data list --data-root data\n"
      "  pardec data fetch squad race --data-root data\n"
      "  pardec data check --data-root data --dataset squad\n"
      "  pardec data stats --data-root data\n"
      "  pardec data stats --dataset oa-mine --tokenizer DIR/tokenizer.json --format csv\n"
      "  pardec data stats --attention --contexts 6\n"
      "  pardec data stats --structure --dataset answers=FILE.jsonl\n"
      "  pardec data rewrite jsonl --data-root own --split train --service teacher.json --out "
      "own/jsonl/branches.jsonl",
      [](CLI::App& app) -> std::function<int()> {
        auto flags = std::make_shared<DataFlags>();
        app.add_option("action", flags->action,
                       "list, fetch, standin, prompts, rewrite, label, check or stats")
            ->required();
        app.add_option(
               "names", flags->datasets,
               "datasets; default: all (fetch, standin, prompts: none; rewrite, label: give one)")
            ->type_name("NAME");
        app.add_option("--dataset", flags->datasets, "another way to give the names of datasets")
            ->delimiter(',')
            ->type_name("A,B");
        app.add_option(
               "--data-root", flags->data_root,
               "folder with one folder for each dataset; without it the project's samples are read")
            ->type_name("DIR");
        app.add_option("--split", flags->split,
                       "one split; default: all that exist (prompts: train; rewrite, label: the "
                       "dataset's first)")
            ->type_name("NAME")
            ->group(flags_of({"fetch", "prompts", "rewrite", "label", "check", "stats"}));
        app.add_option("--tokenizer", flags->tokenizer,
                       "a tokenizer.json or its folder; without it the quickstart's")
            ->type_name("FILE")
            ->group(flags_of({"standin", "rewrite", "stats"}));
        app.add_flag("--addresses", flags->addresses,
                     "where fetch gets each file from, and its licence")
            ->group(flags_of({"list"}));
        app.add_flag(
               "--attention", flags->attention,
               "cost of attention when questions share a context, by the model of the IPPD paper")
            ->group(flags_of({"stats"}));
        app.add_option("--contexts", flags->contexts,
                       "with --attention: contexts stacked in one prompt of IPPD")
            ->capture_default_str()
            ->type_name("N")
            ->group(flags_of({"stats"}));
        app.add_flag("--structure", flags->structure,
                     "how parallel the reference answers of open prompts are: PPD, DP and ABN, by "
                     "ASPD's markup or APAR's rules")
            ->group(flags_of({"stats"}));
        app.add_flag("--published", flags->published,
                     "also the papers' rows of datasets that pardec does not read")
            ->group(flags_of({"stats"}));
        app.add_option("--seed", flags->seed, "random seed")
            ->capture_default_str()
            ->type_name("N")
            ->group(flags_of({"standin", "prompts"}));
        app.add_option("--examples", flags->examples,
                       "how many examples; 0: as many as published (prompts: 5,000)")
            ->capture_default_str()
            ->type_name("N")
            ->group(flags_of({"standin", "prompts"}));
        app.add_option("--mirror", flags->mirror,
                       "takes MIRROR/DATASET/FILE instead of the publisher's address")
            ->type_name("URL")
            ->group(flags_of({"fetch"}));
        app.add_option("--part", flags->part,
                       "which part of a dataset that comes in parts, e.g. a category of "
                       "amazon-reviews")
            ->type_name("NAME")
            ->group(flags_of({"fetch"}));
        add_flags(app, flags->download);
        app.add_flag("--force", flags->force, "also fetch files that are there already")
            ->group(flags_of({"fetch"}));
        app.add_option("--progress", flags->progress, "auto, bar, plain or none")
            ->capture_default_str()
            ->type_name("STYLE")
            ->group(flags_of({"fetch", "rewrite", "label"}));
        add_teacher_flags(app, *flags);
        add_format(app, flags->format);
        return [flags] {
          if (flags->action == "list") return list_data(*flags);
          if (flags->action == "standin") return standin_data(*flags);
          if (flags->action == "prompts") return make_prompt_data(*flags);
          if (flags->action == "fetch") return fetch_data(*flags);
          if (flags->action == "rewrite") return rewrite_data(*flags);
          if (flags->action == "label") return label_data(*flags);
          if (flags->action == "check") return check_data(*flags);
          if (flags->attention && flags->structure)
            throw ConfigError("data stats: give --attention or --structure, not both");
          return flags->structure   ? structure_stats(*flags)
                 : flags->attention ? attention_stats(*flags)
                                    : data_stats(*flags);
        };
      },
      {"list", "fetch", "standin", "prompts", "rewrite", "label", "check", "stats"},
      {.files = {"--out", "--details"}}};
}

}  // namespace pardec
