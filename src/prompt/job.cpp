#include "src/prompt/job.hpp"

#include "src/support/choice_letters.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::string_view name(Form form) {
  switch (form) {
    case Form::json:
      return "json";
    case Form::value:
      return "value";
    case Form::free:
      return "free";
  }
  return "";
}

std::string nameless_key(size_t number) { return str("q", number); }

namespace {

/// Calls `read(item, where)` for each object of an optional array.
template <typename Read>
void each(JsonReader& reader, const std::string& key, Read read) {
  const Json& array = reader.any(key);
  if (array.is_null()) return;
  if (!array.is_array())
    throw ConfigError(str(reader.where(key), " is ", array.type_name(), ", expected an array"));
  for (size_t i = 0; i < array.size(); ++i) {
    JsonReader item(array[i], str(reader.where(key), "[", i, "]"));
    read(item);
    item.finish();
  }
}

}  // namespace

Job parse_job(const Json& json, const std::string& where, Job defaults) {
  Job job = std::move(defaults);
  JsonReader read(json, where);
  job.conversation = read.optional<bool>("conversation", false);
  job.id = read.optional<std::string>("id", "job");
  job.instruction = read.optional<std::string>("instruction", "");
  each(read, "shots", [&](JsonReader& shot) {
    job.shots.push_back({shot.required<std::string>("context"),
                         shot.optional<std::string>("field", ""),
                         shot.required<std::string>("answer")});
  });
  each(read, "contexts", [&](JsonReader& item) {
    Context context;
    context.id = item.optional<std::string>("id", str("context-", job.contexts.size() + 1));
    context.category = item.optional<std::string>("category", "");
    context.text = item.required<std::string>("text");
    each(item, "fields", [&](JsonReader& field) {
      Field f{field.optional<std::string>("name", ""), field.optional<std::string>("question", ""),
              field.optional<std::vector<std::string>>("choices", {})};
      if (f.choices.size() > kMostChoices)
        throw ConfigError(str(field.where("choices"), " has ", f.choices.size(),
                              " texts, expected at most ", kMostChoices, " (A to Z)"));
      if (f.name.empty() && f.question.empty())
        throw ConfigError(
            str(field.where("name"), " and 'question' are both empty, expected one of them"));
      if (job.conversation && f.question.empty())
        throw ConfigError(
            str(field.where("question"), " is empty, expected what the user says in this turn"));
      const size_t number = context.fields.size() + 1;
      if (f.name.empty()) f.name = nameless_key(number);
      for (size_t other = 0; other < context.fields.size(); ++other)
        if (context.fields[other].name == f.name)
          throw ConfigError(str(field.where("name"), ": fields ", other + 1, " and ", number,
                                " of one context are both named '", f.name,
                                "' (without a name, the second is q2); expected one name each"));
      context.fields.push_back(std::move(f));
    });
    if (context.fields.empty())
      throw ConfigError(str(item.where("fields"), " is empty, expected at least one field"));
    job.contexts.push_back(std::move(context));
  });
  if (job.contexts.empty())
    throw ConfigError(str(read.where("contexts"), " is empty, expected at least one context"));
  if (job.conversation && job.contexts.size() != 1)
    throw ConfigError(str(read.where("conversation"), " has ", job.contexts.size(),
                          " contexts, expected one, whose fields are the turns"));
  if (read.has("limits")) {
    JsonReader limits(read.any("limits"), read.where("limits"));
    job.limits.max_new_tokens = limits.optional<int>("max_new_tokens", job.limits.max_new_tokens);
    job.limits.per_field = limits.optional<int>("per_field", job.limits.per_field);
    limits.finish();
    for (const auto& [key, limit] : {std::pair{"max_new_tokens", job.limits.max_new_tokens},
                                     std::pair{"per_field", job.limits.per_field}})
      if (limit < 1)
        throw ConfigError(str(limits.where(key), " is ", limit, ", expected at least 1"));
  }
  if (read.has("sampling")) {
    JsonReader sampling(read.any("sampling"), read.where("sampling"));
    job.sampling.temperature = sampling.optional<double>("temperature", job.sampling.temperature);
    job.sampling.top_k = sampling.optional<int>("top_k", job.sampling.top_k);
    job.sampling.top_p = sampling.optional<double>("top_p", job.sampling.top_p);
    sampling.finish();
  }
  check_sampling(job.sampling, where);
  job.seed = read.optional<std::uint64_t>("seed", job.seed);
  if (auto system = read.maybe<std::string>("system")) job.system = *std::move(system);
  read.any("limits");
  read.any("sampling");
  read.finish();
  return job;
}

void check_sampling(const Sampling& sampling, const std::string& where) {
  if (!(sampling.temperature >= 0))
    throw ConfigError(
        str(where, ": temperature is ", sampling.temperature, ", expected 0 (greedy) or more"));
  if (sampling.top_k < 0)
    throw ConfigError(str(where, ": top_k is ", sampling.top_k, ", expected 0 (off) or more"));
  if (!(sampling.top_p > 0 && sampling.top_p <= 1))
    throw ConfigError(
        str(where, ": top_p is ", sampling.top_p, ", expected above 0 and at most 1"));
}

OrderedJson to_json(const Job& job) {
  OrderedJson shots = OrderedJson::array(), contexts = OrderedJson::array();
  for (const auto& shot : job.shots)
    shots.push_back({{"context", shot.context}, {"field", shot.field}, {"answer", shot.answer}});
  for (const auto& context : job.contexts) {
    OrderedJson fields = OrderedJson::array();
    for (const auto& field : context.fields)
      fields.push_back(
          {{"name", field.name}, {"question", field.question}, {"choices", field.choices}});
    contexts.push_back({{"id", context.id},
                        {"category", context.category},
                        {"text", context.text},
                        {"fields", fields}});
  }
  OrderedJson json = {
      {"id", job.id},
      {"instruction", job.instruction},
      {"shots", shots},
      {"contexts", contexts},
      {"limits",
       {{"max_new_tokens", job.limits.max_new_tokens}, {"per_field", job.limits.per_field}}},
      {"sampling",
       {{"temperature", job.sampling.temperature},
        {"top_k", job.sampling.top_k},
        {"top_p", job.sampling.top_p}}},
      {"seed", job.seed}};
  if (job.conversation) json["conversation"] = true;
  if (job.system) json["system"] = *job.system;
  return json;
}

}  // namespace pardec
