#include "src/tokenizer/sentencepiece_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "src/support/base64.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"
#include "src/tokenizer/sentencepiece_pieces.hpp"
#include "src/tokenizer/tokens_beside.hpp"

namespace pardec {

namespace {

// A tokenizer.model is a message of Protocol Buffers (sentencepiece_model.proto), a sequence of
// fields: varint (number << 3 | wire type), then the value. Wire types: 0 varint, 1 eight bytes,
// 2 length (varint) and bytes, 5 four bytes. Of the fields, these are read:
//   1 piece        {1 text, 2 score (float), 3 kind}, repeated
//   2 trainer      {3 kind of model, 35 byte_fallback, 41 bos id, 42 eos id}
//   3 normalizer   {2 charsmap, 3 add_dummy_prefix, 4 remove_extra_whitespaces,
//                   5 escape_whitespaces}

/// A field of a message.
struct Field {
  std::uint64_t number = 0;
  std::uint64_t value = 0;  ///< of a varint, or of four or eight bytes
  std::string_view bytes;
};

/// Reads the fields of a message one after the other.
class Message {
 public:
  Message(std::string_view bytes, const std::string& where) : rest_(bytes), where_(where) {}

  std::optional<Field> next() {
    if (rest_.empty()) return std::nullopt;
    const std::uint64_t key = varint();
    Field field{.number = key >> 3};
    switch (key & 7) {
      case 0:
        field.value = varint();
        break;
      case 1:
        field.value = fixed(8);
        break;
      case 2:
        field.bytes = take(varint());
        break;
      case 5:
        field.value = fixed(4);
        break;
      default:
        fail(str("has a field of wire type ", key & 7));
    }
    return field;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ModelError(where_, str(what, ", expected a model of SentencePiece"));
  }
  std::string_view take(std::uint64_t bytes) {
    if (bytes > rest_.size())
      fail(str("is truncated: a field has ", bytes, " bytes, of which ", rest_.size(),
               " are there"));
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1).front());
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    fail("has a number of more than ten bytes");
  }
  std::uint64_t fixed(int bytes) {
    const std::string_view taken = take(static_cast<std::uint64_t>(bytes));
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(taken[static_cast<size_t>(i)])} << (8 * i);
    return value;
  }

  std::string_view rest_;
  const std::string& where_;
};

enum class Algorithm : std::uint64_t { unigram = 1, bpe, word, character };

struct Model {
  SentencePieces pieces;
  std::uint64_t algorithm = 1;
  bool byte_fallback = false;
  std::int64_t bos = 1, eos = 2;
  std::string_view charsmap;
  bool prefix = true, trims = true, escapes = true;
};

void read_piece(std::string_view bytes, const std::string& where, SentencePieces& pieces) {
  std::string_view text;
  float score = 0;
  std::uint64_t kind = SentencePieces::normal;
  Message message(bytes, where);
  while (const auto field = message.next()) {
    if (field->number == 1) text = field->bytes;
    if (field->number == 2) score = std::bit_cast<float>(static_cast<std::uint32_t>(field->value));
    if (field->number == 3) kind = field->value;
  }
  const size_t id = pieces.texts.size();
  if (text.empty() || repair_utf8(text) != text || !std::isfinite(score) || kind < 1 || kind > 6)
    throw ModelError(
        where, str("piece ", id, " is '", visible_text(text), "' of kind ", kind, " with score ",
                   score, ", expected a text in UTF-8, a kind from 1 to 6, and a number"));
  pieces.texts.push_back(text);
  pieces.scores.push_back(score);
  pieces.kinds.push_back(static_cast<std::int64_t>(kind));
}

Model read_model(std::string_view bytes, const std::string& where) {
  Model model;
  Message message(bytes, where);
  while (const auto part = message.next()) {
    if (part->number == 1) read_piece(part->bytes, where, model.pieces);
    if (part->number != 2 && part->number != 3) continue;
    Message fields(part->bytes, where);
    while (const auto field = fields.next()) {
      const bool trainer = part->number == 2;
      const auto id = static_cast<std::int32_t>(field->value);  // negative: there is none
      if (trainer && field->number == 3) model.algorithm = field->value;
      if (trainer && field->number == 35) model.byte_fallback = field->value != 0;
      if (trainer && field->number == 41) model.bos = id;
      if (trainer && field->number == 42) model.eos = id;
      if (!trainer && field->number == 2) model.charsmap = field->bytes;
      if (!trainer && field->number == 3) model.prefix = field->value != 0;
      if (!trainer && field->number == 4) model.trims = field->value != 0;
      if (!trainer && field->number == 5) model.escapes = field->value != 0;
    }
  }
  if (model.pieces.texts.empty())
    throw ModelError(where, "has no pieces, expected a model of SentencePiece");
  if (!model.escapes)
    throw ModelError(where, "has escape_whitespaces false, which is not supported; expected true");
  return model;
}

Json normalizer_json(const Model& model) {
  Json steps = Json::array();
  if (!model.charsmap.empty())
    steps.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", to_base64(model.charsmap)}});
  if (model.trims) {
    steps.push_back({{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}});
    steps.push_back({{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}});
  }
  for (const Json& step : spaces_json(model.prefix)) steps.push_back(step);
  return {{"type", "Sequence"}, {"normalizers", steps}};
}

Json unigram_json(const SentencePieces& pieces, const Json& unknown, bool byte_fallback,
                  const std::string& where) {
  const Json ids = vocabulary_json(pieces, where);  // checks that the texts differ
  Json vocab = Json::array(), unknown_id = nullptr;
  for (size_t id = 0; id < pieces.texts.size(); ++id)
    vocab.push_back({std::string(pieces.texts[id]), pieces.scores[id]});
  if (!unknown.is_null()) unknown_id = ids.at(unknown.get<std::string>());
  return {{"type", "Unigram"},
          {"unk_id", unknown_id},
          {"byte_fallback", byte_fallback},
          {"vocab", vocab}};
}

/// Whether a flag of tokenizer_config.json is set.
bool flag_beside(const std::filesystem::path& file, const char* key, bool fallback) {
  const OrderedJson config = read_object_if_there(file.parent_path() / kTokenizerConfig);
  const OrderedJson value = value_or_null(config, key);
  return value.is_boolean() ? value.get<bool>() : fallback;
}

Json post_processor_json(const Model& model, const std::filesystem::path& file) {
  Json single = Json::array(), special = Json::object();
  const auto add = [&](std::int64_t id) {
    if (id < 0 || id >= std::ssize(model.pieces.texts)) return;
    const std::string text(model.pieces.texts[static_cast<size_t>(id)]);
    single.push_back({{"SpecialToken", {{"id", text}, {"type_id", 0}}}});
    special[text] = {{"id", text}, {"ids", {id}}, {"tokens", {text}}};
  };
  if (flag_beside(file, "add_bos_token", true)) add(model.bos);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  if (flag_beside(file, "add_eos_token", false)) add(model.eos);
  if (special.empty()) return nullptr;
  return {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair", Json::array()},
          {"special_tokens", special}};
}

}  // namespace

Json sentencepiece_tokenizer(const std::filesystem::path& file) {
  const std::string bytes = read_file(file), where = file.string();
  const Model model = read_model(bytes, where);
  const SentencePieces& pieces = model.pieces;
  Json unknown = nullptr;
  for (size_t id = 0; id < pieces.texts.size(); ++id)
    if (pieces.kinds[id] == SentencePieces::unknown) unknown = std::string(pieces.texts[id]);
  const bool bpe = model.algorithm == static_cast<std::uint64_t>(Algorithm::bpe);
  if (!bpe && model.algorithm != static_cast<std::uint64_t>(Algorithm::unigram))
    throw ModelError(where, str("has a model of kind ", model.algorithm,
                                ", which is not supported; supported are 1 (unigram) and 2 (BPE)"));
  return {{"added_tokens", added_json(pieces)},
          {"normalizer", normalizer_json(model)},
          {"post_processor", post_processor_json(model, file)},
          {"decoder", decoder_json(model.prefix)},
          {"model", bpe ? bpe_json(pieces, unknown, model.byte_fallback, where)
                        : unigram_json(pieces, unknown, model.byte_fallback, where)}};
}

}  // namespace pardec
