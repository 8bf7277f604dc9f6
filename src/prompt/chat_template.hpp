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

/// One message of a conversation. The role is `system`, `user` or `assistant`.
struct ChatMessage {
  std::string role, content;
};

/// The chat markup of a conversation: a built-in template, or a checkpoint's own.
class ChatTemplate {
 public:
  /// The text before and after the words of the last user turn.
  struct Turn {
    std::string before, after;
  };

  /// The name of a built-in template, `checkpoint`, or `checkpoint:NAME` if the checkpoint has
  /// several.
  const std::string& name() const { return name_; }
  /// The Jinja source; a run stores its hash.
  const std::string& text() const { return text_; }
  /// Whether the rendered text already contains the tokenizer's special tokens, as transformers
  /// assumes. Otherwise the tokenizer adds its own at the beginning.
  bool has_special_tokens() const { return has_special_tokens_; }

  /// Renders the whole conversation; `add_generation_prompt` appends the assistant's header.
  /// ConfigError: the template refuses the messages, e.g. roles that do not alternate.
  std::string render(const std::vector<ChatMessage>& messages, bool add_generation_prompt) const;

  /// Renders the conversation with the content of the last user turn left open. ConfigError: the
  /// template does not show that content exactly once and unchanged.
  Turn open_turn(std::vector<ChatMessage> messages) const;

  /// The text between an answer and the content of the next user turn. ConfigError as above; also
  /// if the template changes its rendering of a turn when another turn follows.
  std::string between_turns(std::vector<ChatMessage> messages) const;

  /// The whole text between an answer and the next answer, with `words` as the user's next turn.
  /// ConfigError as above.
  std::string next_turn(std::vector<ChatMessage> messages, const std::string& words) const;

 private:
  friend ChatTemplate find_chat_template(std::string_view name);
  friend std::optional<ChatTemplate> read_chat_template(const std::filesystem::path& folder,
                                                        const std::string& name,
                                                        const OrderedJson& variables);
  /// `where` is the name of the template in errors.
  ChatTemplate(std::string name, std::string text, std::string where, OrderedJson variables,
               bool has_special_tokens)
      : name_(std::move(name)),
        text_(std::move(text)),
        template_(jinja::Template::parse(text_, std::move(where))),
        variables_(std::move(variables)),
        has_special_tokens_(has_special_tokens) {}

  std::string name_, text_;
  jinja::Template template_;
  OrderedJson variables_;  ///< the template's variables besides the messages
  bool has_special_tokens_;
};

/// Finds a built-in template: `plain`, `bare`, `chatml`, `llama-2`, `llama-3`, `phi-4`, `vicuna`.
/// ConfigError, with similar names: there is no such template.
ChatTemplate find_chat_template(std::string_view name);
std::vector<std::string> chat_template_names();

/// The files of a checkpoint folder that contain its template, and the folder of further templates.
inline constexpr std::array kChatTemplateFiles{"chat_template.jinja", "chat_template.json",
                                               "tokenizer_config.json", "special_tokens_map.json",
                                               "added_tokens.json"};
inline constexpr const char* kMoreChatTemplates = "additional_chat_templates";

/// Reads a checkpoint's own template, from the places where transformers looks for it:
/// chat_template.jinja and additional_chat_templates/NAME.jinja, otherwise `chat_template` in
/// tokenizer_config.json (one text, or several by name), otherwise chat_template.json. `name`: the
/// template to use; empty: the default one. Returns nothing if the checkpoint has no template.
/// `variables`: passed to the template in addition to its special tokens (`bos_token` ...). Its
/// strftime_now always prints 26 July 2024, so that prompts do not change from day to day.
/// ConfigError: the template is missing or not supported, or a file is invalid.
std::optional<ChatTemplate> read_chat_template(
    const std::filesystem::path& folder, const std::string& name = "",
    const OrderedJson& variables = OrderedJson::object());

/// Evaluates --chat-template and --chat-set. `auto`: the checkpoint's own template, otherwise
/// `plain`. `checkpoint:NAME`: one of the checkpoint's several templates. Settings are KEY=VALUE,
/// with a value in JSON or plain text; they require the checkpoint's own template. ConfigError.
ChatTemplate choose_chat_template(const std::string& name, const std::filesystem::path& folder,
                                  const std::vector<std::string>& settings = {});
/// The part of these checks that does not need a checkpoint. ConfigError.
void check_chat_template(const std::string& name, const std::vector<std::string>& settings);

}  // namespace pardec
