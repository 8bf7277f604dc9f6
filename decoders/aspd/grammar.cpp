#include "decoders/aspd/grammar.hpp"

#include <algorithm>

#include "decoders/control_tokens.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

bool AspdTokens::has(Token token) const {
  return contains({title, title_end, branch, branch_end, para, para_end}, token);
}

AspdTokens find_aspd_tokens(const std::string& given, const Tokenizer* tokenizer, int vocab_size,
                            bool trains) {
  std::vector<std::string> settings(6);
  if (!given.empty()) settings = split(given, ',');
  const bool gap = std::find(settings.begin(), settings.end(), "") != settings.end();
  if (settings.size() != 6 || (!given.empty() && gap))
    throw ConfigError(str(trains ? "`aspd_tokens`" : "aspd.tokens", " is '", given,
                          "', expected six ids or texts with commas between them: title, "
                          "/title, branch, /branch, para, /para"));
  std::vector<ControlToken> wanted;
  for (const char* name : {"Title", "Branch", "Para"})
    for (const char* slash : {"", "/"}) {
      std::string lower = name;
      lower.front() = static_cast<char>(lower.front() - 'A' + 'a');
      wanted.push_back({"aspd.tokens",
                        settings[wanted.size()],
                        {str("<", slash, name, ">"), str("<|", slash, lower, "|>")},
                        "`set=aspd.tokens=TITLE,/TITLE,BRANCH,/BRANCH,PARA,/PARA`"});
      if (trains)
        name_by_setting(wanted.back(), "aspd_tokens", "TITLE,/TITLE,BRANCH,/BRANCH,PARA,/PARA");
    }
  Tokens ids;
  for (const ControlToken& token : wanted)
    ids.push_back(find_control_token(token, tokenizer, vocab_size));
  check_different(wanted, ids);
  return {ids[0], ids[1], ids[2], ids[3], ids[4], ids[5]};
}

Tokens branch_prefix(const Tokens& title, const AspdTokens& tokens, const Tokenizer* tokenizer) {
  Tokens prefix{tokens.branch};
  prefix.insert(prefix.end(), title.begin(), title.end());
  if (tokenizer)
    for (const Token id : tokenizer->encode_piece(":", false)) prefix.push_back(id);
  return prefix;
}

void AspdGrammar::take(Token token) {
  if (phase_ == Phase::after_title || phase_ == Phase::in_title) {
    if (token != tokens_.title_end) {
      title_.push_back(token);
      phase_ = Phase::in_title;
      return;
    }
    if (std::find(titles_.begin(), titles_.end(), title_) == titles_.end())
      titles_.push_back(title_);
    title_.clear();
    phase_ = Phase::after_title_end;
  } else if (token == tokens_.title) {
    phase_ = Phase::after_title;
  } else if (token == tokens_.para_end) {
    titles_.clear();
    phase_ = Phase::after_block;
  } else {
    phase_ = tokens_.has(token) ? Phase::control : Phase::text;
  }
}

std::vector<Token> AspdGrammar::banned() const {
  const AspdTokens& t = tokens_;
  std::vector<Token> ids{t.branch, t.branch_end, t.para_end};
  switch (phase_) {
    case Phase::text:
    case Phase::control:
      ids.insert(ids.end(), {t.title_end, t.para});
      break;
    case Phase::after_block:
    case Phase::after_title:
      ids.insert(ids.end(), {t.title, t.title_end, t.para});
      break;
    case Phase::in_title:
      ids.insert(ids.end(), {t.title, t.para});
      break;
    case Phase::after_title_end:
      return {};
  }
  return ids;
}

std::vector<Token> AspdGrammar::allowed() const {
  if (phase_ != Phase::after_title_end) return {};
  return {tokens_.title, tokens_.para};
}

std::vector<Token> AspdGrammar::banned_in_branch() const {
  return {tokens_.title, tokens_.title_end, tokens_.para, tokens_.para_end, tokens_.branch};
}

bool AspdGrammar::begins_block(Token token) const {
  return token == tokens_.para && phase_ == Phase::after_title_end;
}

AspdStreams split_streams(const Tokens& flattened, const AspdTokens& tokens,
                          const std::vector<Token>& eos, std::span<const std::int64_t> lengths) {
  AspdStreams streams;
  AspdGrammar grammar(tokens);
  for (size_t i = 0; i < flattened.size();) {
    const Token token = flattened[i++];
    streams.main.push_back(token);
    const bool block = grammar.begins_block(token);
    grammar.take(token);
    if (!block) continue;
    for (size_t k = 0; k < grammar.titles().size(); ++k) {
      const size_t number = streams.branches.size();
      const std::int64_t most = number < lengths.size() ? lengths[number] : std::ssize(flattened);
      if (i >= flattened.size() && most > 0) break;  // the recording does not include this block
      Tokens& branch = streams.branches.emplace_back();
      while (i < flattened.size() && std::ssize(branch) < most) {
        branch.push_back(flattened[i++]);
        if (branch.back() == tokens.branch_end || contains(eos, branch.back())) break;
      }
    }
    grammar.take(tokens.para_end);
  }
  return streams;
}

AspdStreams split_streams(const std::vector<Tokens>& flattened, int index, const AspdTokens& tokens,
                          const std::vector<Token>& eos, std::span<const std::int64_t> lengths) {
  for (int answer = 0;; ++answer) {
    AspdStreams streams =
        split_streams(flattened[static_cast<size_t>(answer)], tokens, eos, lengths);
    if (answer == index) return streams;
    lengths =
        lengths.subspan(std::min(lengths.size(), std::max<size_t>(1, streams.branches.size())));
  }
}

}  // namespace pardec
