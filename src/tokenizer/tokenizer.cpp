#include "src/tokenizer/tokenizer.hpp"

#include <algorithm>

#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/json.hpp"
#include "src/support/mapped_file.hpp"
#include "src/support/text.hpp"
#include "src/support/thought.hpp"
#include "src/tokenizer/added_tokens.hpp"
#include "src/tokenizer/decoder.hpp"
#include "src/tokenizer/gguf_tokenizer.hpp"
#include "src/tokenizer/normalizer.hpp"
#include "src/tokenizer/post_processor.hpp"
#include "src/tokenizer/pre_tokenizer.hpp"
#include "src/tokenizer/sentencepiece_model.hpp"
#include "src/tokenizer/stretch.hpp"
#include "src/tokenizer/word_model.hpp"

namespace pardec {

/// The parts of a tokenizer.json, in the order in which they process a text.
struct Tokenizer::State {
  State(const Json& json, const TokensBeside& beside, std::string name);

  void encode(std::string_view text, Place place, Tokens& out) const;
  void encode_stretch(Stretch stretch, Place place, Bpe::Scratch& scratch, Tokens& out) const;
  void encode_words(Stretch stretch, Place place, Bpe::Scratch& scratch, Tokens& out) const;
  const Vocabulary& vocabulary() const { return vocabulary_of(model); }
  Token size() const { return std::max(vocabulary().size(), added.size()); }
  std::string_view token(Token id) const;
  std::string_view decoded(Token id) const;
  void index_bytes();

  std::string file;  // for errors
  WordModel model;
  std::unique_ptr<Normalizer> normalizer;  // may be null, as pre_tokenizer
  std::unique_ptr<PreTokenizer> pre_tokenizer;
  AddedTokens added;
  PostProcessor post_processor;
  std::unique_ptr<TokenDecoder> decoder;  // may be null: then tokens are joined with spaces
  std::vector<std::string> bytes;         // by id
};

namespace {

int components(const Json& json) {
  int count = json.is_object() && json.contains("type");
  for (const Json& part : json)
    if (part.is_structured()) count += components(part);
  return count;
}

/// The tree of components at `key`. ConfigError: it has more components than any real tokenizer;
/// each component processes the whole text.
Json tree(const Json& json, const char* key) {
  constexpr int kMost = 64;
  Json part = json.value(key, Json());
  if (const int count = components(part); count > kMost)
    throw ConfigError(str(key, " has ", count, " components, expected at most ", kMost));
  return part;
}

/// The content of a tokenizer.json, or one made of another file.
Json content_of(const std::filesystem::path& file) {
  if (file.extension() == ".gguf")
    return gguf_tokenizer(Gguf(MappedFile(file).bytes(), file.string()));
  if (file.extension() == ".model") return sentencepiece_tokenizer(file);
  return read_json(file);
}

/// The tokens from the files next to a tokenizer.json or tokenizer.model; none for files with
/// another name.
TokensBeside beside_of(const std::filesystem::path& tokenizer_json, const Json& json) {
  if (tokenizer_json.filename() != "tokenizer.json" &&
      tokenizer_json.filename() != kSentencePieceModel)
    return {};
  try {
    return read_tokens_beside(tokenizer_json.parent_path(),
                              {{"added_tokens", json.value("added_tokens", Json())}});
  } catch (const Error& error) {  // "file: what"
    const std::string_view what = error.what();
    const std::size_t colon = what.find(": ");
    if (colon == std::string_view::npos) throw ModelError(tokenizer_json.string(), what);
    throw ModelError(what.substr(0, colon), what.substr(colon + 2));
  }
}

}  // namespace

Tokenizer::State::State(const Json& json, const TokensBeside& beside, std::string name)
    : file(std::move(name)),
      model(read_word_model(json.value("model", Json()), "model")),
      normalizer(read_normalizer(tree(json, "normalizer"), "normalizer")),
      pre_tokenizer(read_pre_tokenizer(tree(json, "pre_tokenizer"), "pre_tokenizer")),
      added(json.value("added_tokens", Json()), beside, vocabulary(), normalizer.get(),
            "added_tokens"),
      post_processor(read_post_processor(tree(json, "post_processor"), "post_processor", size())),
      decoder(read_decoder(tree(json, "decoder"), "decoder")) {
  index_bytes();
}

void Tokenizer::State::index_bytes() {
  bytes.resize(static_cast<std::size_t>(size()));
  for (Token id = 0; id < size(); ++id) {
    // Marks of reasoning keep their bytes, so that the text between them can be recognised.
    if (added.is_special(id) && !names_thought(decoded(id))) continue;
    TokenDecoder::Piece piece{std::string(decoded(id))};
    if (decoder) decoder->apply_inside(piece);
    bytes[static_cast<std::size_t>(id)] = std::move(piece.bytes);
  }
}

std::string_view Tokenizer::State::token(Token id) const {
  const std::string* content = added.token(id);
  return content ? std::string_view(*content) : vocabulary().token(id);
}

/// The token's text as passed to the decoder.
std::string_view Tokenizer::State::decoded(Token id) const {
  const std::string* text = added.decoded(id);
  return text ? std::string_view(*text) : vocabulary().token(id);
}

namespace {

/// The place of a stretch in a text at `place`. Only the first and last stretch of a text can
/// continue from or in another piece, since an added token next to a stretch separates it.
Place place_of(Place place, bool first, bool last) {
  if (place == Place::later && first) return place;
  return place == Place::whole || !last ? Place::whole : Place::first;
}

}  // namespace

void Tokenizer::State::encode(std::string_view text, Place place, Tokens& out) const {
  Bpe::Scratch scratch;
  const std::vector<Section> sections = added.split_original(text);
  try {
    for (std::size_t i = 0; i < sections.size(); ++i) {
      const Section& section = sections[i];
      if (section.id) {
        out.push_back(*section.id);
        continue;
      }
      encode_stretch(Stretch::of_input(text, section.begin, section.end),
                     place_of(place, i == 0, i + 1 == sections.size()), scratch, out);
    }
  } catch (const RunError& error) {
    throw RunError(str(file, ": ", error.what()));
  }
}

/// Encodes the text between two added tokens: normalises it, and finds the tokens to be found in
/// normalised text.
void Tokenizer::State::encode_stretch(Stretch stretch, Place place, Bpe::Scratch& scratch,
                                      Tokens& out) const {
  if (normalizer) normalizer->apply(stretch, place);
  for (const Section& section : added.split_normalized(stretch.text)) {
    if (section.id) {
      out.push_back(*section.id);
    } else {
      encode_words(stretch.part(section.begin, section.end),
                   section.begin == 0 ? place : Place::whole, scratch, out);
    }
  }
}

void Tokenizer::State::encode_words(Stretch stretch, Place place, Bpe::Scratch& scratch,
                                    Tokens& out) const {
  std::vector<Stretch> words;
  words.push_back(std::move(stretch));
  if (pre_tokenizer) pre_tokenizer->apply(words, place);
  for (const Stretch& word : words) {
    if (const Bpe* bpe = std::get_if<Bpe>(&model)) bpe->encode(word.text, scratch, out);
    if (const Unigram* unigram = std::get_if<Unigram>(&model)) unigram->encode(word.text, out);
    if (const WordPiece* pieces = std::get_if<WordPiece>(&model)) pieces->encode(word.text, out);
  }
}

Tokenizer::Tokenizer(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Tokenizer Tokenizer::load(const std::filesystem::path& tokenizer_json) {
  const std::string file = tokenizer_json.string();
  try {
    const Json json = content_of(tokenizer_json);
    JsonReader top(json, "the file");
    for (const char* key : {"version", "truncation", "padding", "added_tokens", "normalizer",
                            "pre_tokenizer", "post_processor", "decoder", "model"}) {
      top.any(key);
    }
    top.finish();
    return Tokenizer(std::make_unique<const State>(json, beside_of(tokenizer_json, json), file));
  } catch (const DataError& error) {
    // "file:line: what", or "file: what"
    std::string_view what = error.what();
    const std::size_t colon =
        what.starts_with(file) ? what.find(": ", file.size()) : std::string_view::npos;
    if (colon == std::string_view::npos) throw ModelError(file, what);
    throw ModelError(what.substr(0, colon), what.substr(colon + 2));
  } catch (const ConfigError& error) {
    throw ModelError(file, error.what());
  } catch (const RunError& error) {
    throw ModelError(file, error.what());
  }
}

Tokens Tokenizer::encode(std::string_view text, bool add_special) const {
  Tokens out;
  if (add_special) out = state_->post_processor.leading;
  state_->encode(repair_utf8(text), Place::whole, out);
  if (add_special) {
    const Tokens& trailing = state_->post_processor.trailing;
    out.insert(out.end(), trailing.begin(), trailing.end());
  }
  return out;
}

Tokens Tokenizer::encode_piece(std::string_view text, bool first, bool add_special) const {
  Tokens out;
  if (first && add_special) out = state_->post_processor.leading;
  state_->encode(repair_utf8(text), first ? Place::first : Place::later, out);
  return out;
}

std::string Tokenizer::decode(const Tokens& ids, bool skip_special) const {
  std::vector<std::string> tokens;
  tokens.reserve(ids.size());
  for (const Token id : ids) {
    const std::string_view token = state_->decoded(id);
    if (token.empty() || (skip_special && state_->added.is_skipped(id))) continue;
    tokens.emplace_back(token);
  }
  if (!state_->decoder) return join(tokens, " ");
  try {
    state_->decoder->apply(tokens);
  } catch (const RunError& error) {
    throw RunError(str(state_->file, ": ", error.what()));
  }
  return join(tokens, "");
}

std::string_view Tokenizer::bytes(Token id) const {
  return id >= 0 && id < vocab_size()
             ? std::string_view(state_->bytes[static_cast<std::size_t>(id)])
             : "";
}

std::optional<Token> Tokenizer::id(std::string_view token) const {
  const auto added = state_->added.id(token);
  return added ? added : state_->vocabulary().id(token);
}

std::string_view Tokenizer::token(Token id) const { return state_->token(id); }
bool Tokenizer::is_special(Token id) const { return state_->added.is_special(id); }
int Tokenizer::vocab_size() const { return state_->size(); }
OrderedJson Tokenizer::added_tokens() const { return state_->added.json(); }

std::string complete_tokenizer(const std::filesystem::path& tokenizer_json) {
  const OrderedJson all = Tokenizer::load(tokenizer_json).added_tokens();
  const bool other = tokenizer_json.extension() == ".model";
  OrderedJson json =
      other ? OrderedJson(content_of(tokenizer_json)) : read_ordered_json(tokenizer_json);
  if (!other && Json(json.value("added_tokens", OrderedJson::array())) == Json(all))
    return read_file(tokenizer_json);
  json["added_tokens"] = all;
  return json.dump(2) + "\n";
}

}  // namespace pardec
