#include "src/model/files/rope.hpp"

#include <array>
#include <cmath>
#include <optional>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr std::array<std::string_view, 6> kRopeTypes{"default", "linear",   "dynamic",
                                                     "yarn",    "longrope", "llama3"};

void check_positive(double value, const char* key, const std::string& place) {
  if (!(value > 0) || !std::isfinite(value))
    throw ConfigError(str(place, ": '", key, "' is ", value, ", expected a positive number"));
}

/// yarn's attention factor for a context extended `scale` times.
double yarn_scale(double scale, double weight) {
  return scale <= 1 ? 1.0 : 0.1 * weight * std::log(scale) + 1.0;
}

/// Reads `factor`. Null means the ratio of the current to the original length.
double read_factor(JsonReader& rope, const Rope& out, int max_position) {
  const auto written = rope.maybe<double>("factor");
  return written
             ? *written
             : static_cast<double>(max_position) / static_cast<double>(out.original_max_position);
}

void read_yarn(const Json& written, JsonReader& rope, Rope& out, int max_position) {
  // null is read below, but a missing key is an error
  if (!written.contains("factor")) rope.required<double>("factor");
  out.factor = read_factor(rope, out, max_position);
  // Zero counts as not written, as in transformers.
  const auto positive_or = [&](const char* key, double fallback) {
    const double value = rope.optional<double>(key, fallback);
    return value == 0 ? fallback : value;
  };
  out.beta_fast = positive_or("beta_fast", 32);
  out.beta_slow = positive_or("beta_slow", 1);
  rope.any("finetuned");  // has no effect: says where the weights come from
  out.truncate = !written.contains("truncate") || rope.optional<bool>("truncate", false);
  const double mscale = rope.optional<double>("mscale", 0);
  const double mscale_all = rope.optional<double>("mscale_all_dim", 0);
  const double inferred = mscale != 0 && mscale_all != 0
                              ? yarn_scale(out.factor, mscale) / yarn_scale(out.factor, mscale_all)
                              : yarn_scale(out.factor, 1);
  out.attention_factor = rope.optional<double>("attention_factor", inferred);
}

void read_longrope(JsonReader& rope, Rope& out, const std::string& place, int max_position) {
  out.factor = read_factor(rope, out, max_position);
  const double inferred =
      out.factor <= 1.0
          ? 1.0
          : std::sqrt(1 + std::log(out.factor) / std::log(double(out.original_max_position)));
  out.attention_factor = rope.optional<double>("attention_factor", inferred);
  out.short_factor = rope.required<std::vector<double>>("short_factor");
  rope.any("long_factor");  // applies only to contexts longer than supported
  if (std::ssize(out.short_factor) != out.dims / 2)
    throw ConfigError(str(place, ": 'short_factor' has ", out.short_factor.size(),
                          " numbers, expected head_dim / 2 (", out.dims / 2, ")"));
  for (const double divisor : out.short_factor) check_positive(divisor, "short_factor", place);
}

void read_llama3(JsonReader& rope, Rope& out, const std::string& place) {
  out.factor = rope.required<double>("factor");
  out.low_freq_factor = rope.required<double>("low_freq_factor");
  out.high_freq_factor = rope.required<double>("high_freq_factor");
  check_positive(out.low_freq_factor, "low_freq_factor", place);
  if (!(out.high_freq_factor > out.low_freq_factor))
    throw ConfigError(str(place, ": 'high_freq_factor' is ", out.high_freq_factor,
                          ", expected more than 'low_freq_factor' (", out.low_freq_factor, ")"));
}

RopeType read_type(JsonReader& rope, const std::string& where, const char* key, bool phi3) {
  const auto older = rope.maybe<std::string>("type");
  auto type = rope.optional<std::string>("rope_type", older.value_or("default"));
  if (phi3 && (type == "su" || type == "yarn")) type = "longrope";
  if (phi3 && type != "default" && type != "longrope")
    throw ModelError(where, str("'", key, "' has rope_type '", type,
                                "', expected default or longrope for phi3"));
  for (size_t i = 0; i < kRopeTypes.size(); ++i)
    if (type == kRopeTypes[i]) return static_cast<RopeType>(i);
  throw ModelError(
      where, str("'", key, "' has rope_type '", type, "', which is not supported; supported are ",
                 join(std::vector<std::string>(kRopeTypes.begin(), kRopeTypes.end()), ", ")));
}

void read_scaling(const Json& written, JsonReader& rope, Rope& out, const std::string& place,
                  std::optional<int> original, int max_position) {
  const auto inner = rope.maybe<int>("original_max_position_embeddings");
  if (!inner && !original && written.contains("original_max_position_embeddings"))
    throw ConfigError(str(place,
                          ": 'original_max_position_embeddings' is null, expected a number, "
                          "or no such key"));
  out.original_max_position = original ? *original : inner.value_or(max_position);
  check_positive(out.original_max_position, "original_max_position_embeddings", place);
  switch (out.type) {
    case RopeType::standard:
    case RopeType::still:
      break;
    case RopeType::linear:
    case RopeType::dynamic:
      out.factor = rope.required<double>("factor");
      break;
    case RopeType::yarn:
      read_yarn(written, rope, out, max_position);
      break;
    case RopeType::longrope:
      read_longrope(rope, out, place, max_position);
      break;
    case RopeType::llama3:
      read_llama3(rope, out, place);
      break;
  }
  check_positive(out.factor, "factor", place);
  check_positive(out.attention_factor, "attention_factor", place);
}

/// Reads the number of rotated dimensions from `partial_rotary_factor`. `may_be`: it may be other
/// than 1.
void read_partial(JsonReader& read, const std::string& where, const std::string& place,
                  int head_dim, bool may_be, Rope& out) {
  const auto share = read.maybe<double>("partial_rotary_factor");
  if (!share) return;
  if (*share != 1.0 && !may_be)
    throw ModelError(where, str(place,
                                "'partial_rotary_factor' is not 1: heads that are rotated only in "
                                "part are not supported for this family"));
  if (!(*share > 0 && *share <= 1))
    throw ModelError(where, str(place, "'partial_rotary_factor' is ", *share,
                                ", expected above 0 and at most 1"));
  out.dims = static_cast<int>(head_dim * *share);
  if (out.dims < 2 || out.dims % 2 != 0)
    throw ModelError(
        where, str(place, "'partial_rotary_factor' is ", *share, ", so that ", out.dims, " of ",
                   head_dim, " dimensions are rotated; expected an even number"));
}

void check_theta(const Rope& rope, const char* key, const std::string& where) {
  if (!(rope.theta > 0) || !std::isfinite(rope.theta))
    throw ModelError(where, str("'", key, "' is ", rope.theta, ", expected a positive number"));
}

}  // namespace

std::string_view name(RopeType type) {
  return type == RopeType::still ? "none" : kRopeTypes[static_cast<size_t>(type)];
}

Rope read_rope(JsonReader& config, const std::string& where, int head_dim, int max_position,
               const RopeDefaults& family) {
  const bool phi3 = family.phi3, partial = family.rotated > 0;
  Rope out;
  out.dims = partial ? static_cast<int>(head_dim * family.rotated) : head_dim;
  out.theta = config.optional<double>("rope_theta", family.theta);
  auto original = config.maybe<int>("original_max_position_embeddings");
  if (phi3 && !original) original = 4096;
  read_partial(config, where, "", head_dim, partial, out);
  const Json& older = config.any("rope_scaling");
  const Json& newer = config.any("rope_parameters");
  const bool has_older = !older.is_null() && !older.empty();
  const char* key = has_older ? "rope_scaling" : "rope_parameters";
  const Json& value = has_older ? older : newer;
  if (!value.is_null()) {
    const std::string place = str(where, ": '", key, "'");
    JsonReader rope(value, place);
    for (const auto& [option, said] : value.items()) {
      if (said.is_object())
        throw ConfigError(str(place, ": has options of '", option,
                              "' only; supported is one set for all layers"));
      if (option == "rope_theta" && said.is_null())
        throw ConfigError(str(place, ": 'rope_theta' is null, expected a number, or no such key"));
    }
    out.type = read_type(rope, where, key, phi3);
    out.theta = rope.optional<double>("rope_theta", out.theta);
    read_partial(rope, where, str("'", key, "': "), head_dim, partial, out);
    read_scaling(value, rope, out, place, original, max_position);
    if (out.type != RopeType::standard) rope.finish();
  }
  check_theta(out, "rope_theta", where);
  return out;
}

LayerRopes read_layer_ropes(JsonReader& config, const std::string& where, int head_dim) {
  LayerRopes ropes;
  ropes.full.dims = ropes.sliding.dims = head_dim;
  ropes.full.theta = config.optional<double>("rope_theta", 1e6);
  ropes.sliding.theta = config.optional<double>("rope_local_base_freq", 1e4);
  const auto read_options = [&](const Json& value, const char* key, Rope& out) {
    if (value.is_null()) return;
    const std::string place = str(where, ": '", key, "'");
    JsonReader rope(value, place);
    if (value.contains("rope_theta") && value.at("rope_theta").is_null())
      throw ConfigError(str(place, ": 'rope_theta' is null, expected a number, or no such key"));
    // transformers passes over the older name here, without a word.
    if (value.contains("type") && !value.contains("rope_type"))
      throw ModelError(where, str("'", key, "' has 'type', expected 'rope_type'"));
    out.type = read_type(rope, where, key, false);
    if (out.type != RopeType::standard && out.type != RopeType::linear)
      throw ModelError(where, str("'", key, "' has rope_type '", name(out.type),
                                  "', expected default or linear in a network with one rotary "
                                  "embedding for each kind of layer"));
    out.theta = rope.optional<double>("rope_theta", out.theta);
    read_partial(rope, where, str("'", key, "': "), head_dim, false, out);
    if (out.type == RopeType::standard) return;
    out.factor = rope.required<double>("factor");
    check_positive(out.factor, "factor", place);
    rope.finish();
  };
  if (const Json& both = config.any("rope_parameters"); !both.is_null()) {
    const std::string place = str(where, ": 'rope_parameters'");
    JsonReader kinds(both, place);
    read_options(kinds.any("full_attention"), "full_attention", ropes.full);
    read_options(kinds.any("sliding_attention"), "sliding_attention", ropes.sliding);
    kinds.finish();
  }
  read_options(config.any("rope_scaling"), "rope_scaling", ropes.full);
  check_theta(ropes.full, "rope_theta", where);
  check_theta(ropes.sliding, "rope_local_base_freq", where);
  return ropes;
}

}  // namespace pardec
