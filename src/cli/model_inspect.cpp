// `pardec model inspect`: describes a checkpoint without loading it.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "src/checkpoint/checkpoint_notes.hpp"
#include "src/cli/model.hpp"
#include "src/cli/table_output.hpp"
#include "src/model/adapter.hpp"
#include "src/model/files/extra_heads.hpp"
#include "src/model/files/weight_check.hpp"
#include "src/report/table.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

std::string rope_text(const Rope& rope) {
  if (rope.type == RopeType::standard) return "none";
  std::string text = str(name(rope.type), ", factor ", rope.factor);
  const bool has_original = rope.type == RopeType::yarn || rope.type == RopeType::longrope ||
                            rope.type == RopeType::llama3;
  if (has_original) text += str(", from ", grouped(rope.original_max_position), " positions");
  if (rope.attention_factor != 1) text += str(", attention factor ", rope.attention_factor);
  return text;
}

std::string window_text(const ModelConfig& config) {
  if (config.sliding_window == 0) return "none";
  const auto layers = std::count(config.slides.begin(), config.slides.end(), true);
  return str(grouped(config.sliding_window), " positions in ", layers, " of ",
             counted(config.layers, "layer"));
}

std::string adapter_text(const std::string& folder, const ModelConfig& config) {
  if (!holds_low_rank(folder)) return "extra heads only";
  const Adapter adapter = Adapter::load(folder, config);
  const auto more = adapter.beyond_plain(config);
  return str("low-rank, rank ", adapter.shape().rank, more.empty() ? "" : "; ", join(more, ", "));
}

}  // namespace

int inspect_model(const ModelVerbFlags& flags) {
  const ModelConfig config = read_model_config(flags.folder, flags.adapter);
  Table table;
  table.title = flags.folder;
  table.columns = {{"what"}, {"value"}};
  // The text for people, and the value for programs.
  const auto add = [&](const char* what, const std::string& shown, Json value) {
    table.rows.push_back({what, {shown, std::move(value)}});
  };
  const auto add_text = [&](const char* what, const std::string& text) { add(what, text, text); };
  const auto add_number = [&](const char* what, std::int64_t number) {
    add(what, grouped(number), number);
  };
  add_text("family", std::string(config.family->model_type));
  add_number("parameters", parameter_count(config));
  add_number("layers", config.layers);
  add_number("hidden", config.hidden_size);
  add_number("ffn", config.intermediate_size);
  if (const Experts& experts = config.experts; experts.count > 0)
    add("experts",
        str(experts.count, " of ffn ", grouped(experts.inner), ", ", experts.used,
            " for a row, in ", std::count(experts.layers.begin(), experts.layers.end(), true),
            " of ", counted(config.layers, "layer")),
        experts.count);
  add_number("heads", config.heads);
  add_number("kv heads", config.kv_heads);
  add_number("head_dim", config.head_dim);
  add_number("vocabulary", config.vocab_size);
  add("positions", str(grouped(config.positions()), " (", config.positions_key(), ")"),
      config.positions());
  if (config.rope.type == RopeType::still)
    add("rope_theta", "none: positions are learned", Json());
  else
    add("rope_theta", str(config.rope.theta), config.rope.theta);
  add_text("rope scaling", rope_text(config.rope));
  add("sliding window", window_text(config),
      config.sliding_window ? Json(config.sliding_window) : Json());
  add_text("head", config.tied_head ? "tied to the embedding" : "own matrix");
  add_text("stored as", config.dtype);
  if (!flags.adapter.empty()) add_text("adapter", adapter_text(flags.adapter, config));
  if (config.extra_heads > 0) {
    const auto file = extra_heads_file(flags.folder, flags.adapter);
    const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file));
    add("extra heads",
        str(shape_text(extra_head_shape(file, config)), " (", grouped(bytes), " bytes)"),
        config.extra_heads);
  } else {
    add("extra heads", "none", 0);
  }
  std::vector<std::string> eos;
  for (const Token id : config.eos) eos.push_back(std::to_string(id));
  add("end of sequence", eos.empty() ? "none" : join(eos, ", "), config.eos);
  // Keys and values of one token in all layers, in the two types used for computing.
  const std::int64_t per_token =
      std::int64_t{2} * config.layers * config.kv_heads * config.head_dim;
  add("cache per token",
      str(grouped(per_token * 4), " bytes in fp32, ", grouped(per_token * 2), " in bf16"),
      {{"fp32", per_token * 4}, {"bf16", per_token * 2}});
  if (std::filesystem::exists(std::filesystem::path(flags.folder) / kSynthesisNote))
    add_text("note", "untrained: random weights (model synth)");
  if (const auto notes = checkpoint_notes(flags.folder); !notes.empty())
    add("notes", join(notes, "; "), notes);
  if (const auto face = read_face(flags.folder); face && face->tokenizer) {
    const int ids = face->tokenizer->vocab_size();
    add("tokenizer", str(grouped(ids), " ids"), ids);
  } else {
    add("tokenizer", "none: only --prompt-tokens works", Json());
  }
  WeightCheck check;
  if (flags.weights) {
    check = check_weights(flags.folder);
    add("weights",
        str(check.tensors, " tensors", check.not_finite.empty() ? " of finite numbers" : ""),
        check.tensors);
  }
  OrderedJson all;  // programs get a single object
  for (const auto& row : table.rows)
    all[replace_all(row[0].text, " ", "_")] = OrderedJson(row[1].value.value_or(Json()));
  for (const NotFinite& found : check.not_finite) {
    const std::string tensor = repair_utf8(found.tensor);
    table.rows.push_back({"NOT FINITE: " + tensor, found.text()});
    all["not_finite"][tensor] = found.text();
  }
  const TableFormat format = parse_table_format(flags.format);
  const bool object = format == TableFormat::json || format == TableFormat::jsonl;
  if (object)
    std::cout << dump(all) << "\n";
  else
    print_table(table, format);
  return check.not_finite.empty() ? 0 : 1;
}

}  // namespace pardec
