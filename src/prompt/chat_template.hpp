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

/// One message of a conversation. The role is "system", "user" or "assistant".
struct ChatMessage {
  std::string role, content;
};

/// A chat template: the markup around the messages of a conversation. It is a built-in template, or
/// a checkpoint's own.
class ChatTemplate {
 public:
  /// The text before and after the content of the last user turn.
  struct Turn {
    std::string before, after;
  };

  /// The name of a built-in template; or `checkpoint`, or, if the checkpoint has several templates,
  /// `checkpoint:NAME`.
  const std::string& name() const { return name_; }
  /// The Jinja source. A run stores its hash.
  const std::string& text() const { return text_; }
  /// Whether the rendered text already contains the tokenizer's special tokens, as transformers
  /// assumes. Otherwise the tokenizer adds its own at the beginning.
  bool has_special_tokens() const { return has_special_tokens_; }

  /// Renders a whole conversation. `add_generation_prompt`: whether the header of the assistant's
  /// answer is appended. ConfigError: the template refuses the messages, e.g. because the roles do
  /// not alternate.
  std::string render(const std::vector<ChatMessage>& messages, bool add_generation_prompt) const;

  /// Renders a conversation that ends with a user turn, and returns the text before and after the
  /// content of this turn. `messages`: the messages before the user turn. ConfigError: the template
  /// refuses the messages, or the rendered text does not contain the content exactly once and
  /// unchanged.
  Turn open_turn(std::vector<ChatMessage> messages) const;

  /// The text between an answer and the content of the next user turn. `messages`: the messages
  /// before the first user turn. ConfigError: see open_turn; or the template renders a turn
  /// differently when another turn follows.
  std::string between_turns(std::vector<ChatMessage> messages) const;

  /// The whole text between an answer and the next answer. `messages`: the messages before the
  /// first user turn. `words`: the content of the user turn between the two answers. ConfigError:
  /// see between_turns.
  std::string next_turn(std::vector<ChatMessage> messages, const std::string& words) const;

 private:
  friend ChatTemplate find_chat_template(std::string_view name);
  friend std::optional<ChatTemplate> read_chat_template(const std::filesystem::path& folder,
                                                        const std::string& name,
                                                        const OrderedJson& variables);
  /// `where`: the name of the template for errors.
  ChatTemplate(std::string name, std::string text, std::string where, OrderedJson variables,
               bool has_special_tokens)
      : name_(std::move(name)),
        text_(std::move(text)),
        template_(jinja::Template::parse(text_, std::move(where))),
        variables_(std::move(variables)),
        has_special_tokens_(has_special_tokens) {}

  std::string name_, text_;
  jinja::Template template_;
  OrderedJson variables_;  ///< the template's variables other than the messages
  bool has_special_tokens_;
};

/// Finds a built-in template: `plain`, `bare`, `chatml`, `llama-2`, `llama-3`, `phi-4`, `vicuna`.
/// ConfigError, with similar names: there is no such template.
ChatTemplate find_chat_template(std::string_view name);
/// The names of the built-in templates.
std::vector<std::string> chat_template_names();

/// The files of a checkpoint folder that may contain its template, and the folder with further
/// templates.
inline constexpr std::array kChatTemplateFiles{"chat_template.jinja", "chat_template.json",
                                               "tokenizer_config.json", "special_tokens_map.json",
                                               "added_tokens.json"};
inline constexpr const char* kMoreChatTemplates = "additional_chat_templates";

/// Reads a checkpoint's own template. Like transformers, it looks for the template in
/// chat_template.jinja and additional_chat_templates/NAME.jinja, then in `chat_template` of
/// tokenizer_config.json (one text, or several by name), then in chat_template.json. For a GGUF
/// file, it reads the template from the file's metadata. None: the checkpoint has no template.
/// `name`: the template to use; empty: the default template.
/// `variables`: passed to the template in addition to the special tokens (`bos_token` and others).
/// The template's strftime_now always prints 26 July 2024, so that prompts do not change from day
/// to day. ConfigError: there is no template `name`, or the template is not supported. DataError: a
/// file cannot be read or is not JSON.
std::optional<ChatTemplate> read_chat_template(
    const std::filesystem::path& folder, const std::string& name = "",
    const OrderedJson& variables = OrderedJson::object());

/// The template for --chat-template and --chat-set. `name`: the name of a built-in template;
/// `checkpoint:NAME`, one of the checkpoint's own templates; or `auto`, which is the checkpoint's
/// default template if it has one of its own, otherwise `plain`. (The name `checkpoint` alone is no
/// choice.) `settings`: KEY=VALUE, where VALUE is JSON or plain text; they require the checkpoint's
/// own template. ConfigError: there is no such template, or a setting is invalid. DataError: see
/// read_chat_template.
ChatTemplate choose_chat_template(const std::string& name, const std::filesystem::path& folder,
                                  const std::vector<std::string>& settings = {});
/// Makes the checks of choose_chat_template that need no checkpoint. ConfigError: see there.
void check_chat_template(const std::string& name, const std::vector<std::string>& settings);

}  // namespace pardec
