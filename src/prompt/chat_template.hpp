#pragma once
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/jinja/template.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// One turn of a conversation; the role is `system`, `user` or `assistant`.
struct ChatMessage {
  std::string role, content;
};

/// The markup of a conversation: one of the built-in ones, or a checkpoint's own.
class ChatTemplate {
 public:
  /// What stands around the words of the last user turn.
  struct Turn {
    std::string before, after;
  };

  /// A built-in one's, `checkpoint`, or `checkpoint:NAME` of several.
  const std::string& name() const { return name_; }
  /// In Jinja; a run keeps its hash.
  const std::string& text() const { return text_; }
  /// Whether the text has the tokenizer's special tokens already, as transformers takes it; else
  /// the tokenizer adds its own at the beginning.
  bool has_special_tokens() const { return has_special_tokens_; }

  /// The whole conversation as text, with the assistant's header behind it where it is to go on.
  /// ConfigError: what the template refuses, e.g. roles that do not alternate.
  std::string render(const std::vector<ChatMessage>& messages, bool add_generation_prompt) const;

  /// The conversation with the last user turn left open. ConfigError where the template does not
  /// show the words once, as they are.
  Turn open_turn(std::vector<ChatMessage> messages) const;

  /// What stands between an answer and the words of the user's next turn. ConfigError as above, and
  /// where the template writes a turn otherwise once another one follows it.
  std::string between_turns(std::vector<ChatMessage> messages) const;

  /// All that stands between an answer and the next one, where the user says `words`. ConfigError
  /// as above.
  std::string next_turn(std::vector<ChatMessage> messages, const std::string& words) const;

 private:
  friend ChatTemplate find_chat_template(std::string_view name);
  friend std::optional<ChatTemplate> read_chat_template(const std::filesystem::path& folder,
                                                        const std::string& name,
                                                        const OrderedJson& variables);
  /// `where` names the text in errors.
  ChatTemplate(std::string name, std::string text, std::string where, OrderedJson variables,
               bool has_special_tokens)
      : name_(std::move(name)),
        text_(std::move(text)),
        template_(jinja::Template::parse(text_, std::move(where))),
        variables_(std::move(variables)),
        has_special_tokens_(has_special_tokens) {}

  std::string name_, text_;
  jinja::Template template_;
  OrderedJson variables_;  ///< what the template finds beside the messages
  bool has_special_tokens_;
};

/// A built-in one: `plain`, `chatml`, `llama-2`, `llama-3`, `phi-4`, `vicuna`. ConfigError with the
/// near names otherwise.
ChatTemplate find_chat_template(std::string_view name);
std::vector<std::string> chat_template_names();

/// The files of a checkpoint folder that hold its own, and the folder of others.
inline constexpr std::array kChatTemplateFiles{"chat_template.jinja", "chat_template.json",
                                               "tokenizer_config.json", "special_tokens_map.json",
                                               "added_tokens.json"};
inline constexpr const char* kMoreChatTemplates = "additional_chat_templates";

/// The checkpoint's own, as transformers finds it: chat_template.jinja and
/// additional_chat_templates/NAME.jinja, else `chat_template` in tokenizer_config.json (a text, or
/// several by name), else that of chat_template.json. `name`: which of them; empty: the default
/// one. Empty: it has none. `variables` are given to it beside its special tokens (`bos_token`
/// ...). Its strftime_now always writes 26 July 2024, so that prompts do not change from day to
/// day. ConfigError: a template that is not supported or not there, a file that is not what it
/// should be.
std::optional<ChatTemplate> read_chat_template(
    const std::filesystem::path& folder, const std::string& name = "",
    const OrderedJson& variables = OrderedJson::object());

/// What --chat-template and --chat-set say: `auto` is the checkpoint's own, else `plain`,
/// `checkpoint:NAME` one of several of its own; each setting is KEY=VALUE, its value JSON or plain
/// text, and needs the checkpoint's own. ConfigError.
ChatTemplate choose_chat_template(const std::string& name, const std::filesystem::path& folder,
                                  const std::vector<std::string>& settings = {});
/// The same checks as far as they need no checkpoint. ConfigError.
void check_chat_template(const std::string& name, const std::vector<std::string>& settings);

}  // namespace pardec
