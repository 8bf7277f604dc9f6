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

/// A chat template: the markup around the messages of a conversation. A template is either
/// built-in, or a checkpoint's own.
class ChatTemplate {
 public:
  /// The text before and after the content of the last user turn.
  struct Turn {
    std::string before, after;
  };

  /// The name of a built-in template; or, for a checkpoint's own template, `checkpoint` if it is
  /// the default template, or `checkpoint:NAME` if it was selected by name.
  const std::string& name() const { return name_; }
  /// The Jinja source. A run stores its hash.
  const std::string& text() const { return text_; }
  /// Whether the rendered text already contains the special tokens, such as bos. If not, the
  /// tokenizer must add its leading special tokens. True for a checkpoint's own template, as in
  /// transformers, and false for a built-in template.
  bool has_special_tokens() const { return has_special_tokens_; }

  /// Renders a whole conversation. `add_generation_prompt`: whether the header of the assistant's
  /// next answer is appended. ConfigError: see jinja::Template::render; for example, a template may
  /// raise an error because the roles do not alternate.
  std::string render(const std::vector<ChatMessage>& messages, bool add_generation_prompt) const;

  /// Renders `messages`, then a user turn whose content is a placeholder, then the header of the
  /// assistant's answer. Returns the text before and after the placeholder. ConfigError: see
  /// render; or the rendered text does not contain the placeholder exactly once.
  Turn open_turn(std::vector<ChatMessage> messages) const;

  /// The text between an answer and the content of the next user turn: the end of the answer's
  /// markup, and the beginning of the user turn's markup. `messages`: the messages before the first
  /// user turn. ConfigError: see open_turn; or the template renders a turn differently if another
  /// turn follows.
  std::string between_turns(std::vector<ChatMessage> messages) const;

  /// The whole text between an answer and the next answer: markup, user turn and the header of the
  /// next answer. `messages`: the messages before the first user turn. `words`: the content of the
  /// user turn between the two answers. ConfigError: see open_turn; or, in a conversation with this
  /// user turn, the template renders the earlier turns differently.
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

/// The files of a checkpoint folder that may contain its chat template or special tokens.
/// kMoreChatTemplates: the subfolder with further templates, in files NAME.jinja.
inline constexpr std::array kChatTemplateFiles{"chat_template.jinja", "chat_template.json",
                                               "tokenizer_config.json", "special_tokens_map.json",
                                               "added_tokens.json"};
inline constexpr const char* kMoreChatTemplates = "additional_chat_templates";

/// Reads a checkpoint's own template. `folder`: the checkpoint's folder, or a GGUF file. `name`:
/// the template to use; empty: the default template. In a folder, the templates come from the first
/// of these places that has any, as in transformers: chat_template.jinja together with
/// additional_chat_templates/NAME.jinja; the key `chat_template` of tokenizer_config.json (one
/// text, or several texts by name); chat_template.json. A GGUF file has its templates in its
/// metadata. None: the checkpoint has no template. `variables`: passed to the template in addition
/// to the special tokens (`bos_token` and others). The template's strftime_now always prints 26
/// July 2024, so that prompts do not change from day to day. ConfigError: there is no template
/// `name`, `chat_template` has the wrong type, or the template is not supported. DataError: a file
/// cannot be read or is not JSON. ModelError: the GGUF file is invalid. Also the errors of
/// read_tokens_beside.
std::optional<ChatTemplate> read_chat_template(
    const std::filesystem::path& folder, const std::string& name = "",
    const OrderedJson& variables = OrderedJson::object());

/// The template for --chat-template and --chat-set. `name`: the name of a built-in template;
/// `checkpoint:NAME`, one of the checkpoint's own templates; or `auto`, which is the checkpoint's
/// default template if the checkpoint has any template, otherwise `plain`. (The name `checkpoint`
/// alone is not valid.) `folder`: see read_chat_template. `settings`: variables for the
/// checkpoint's own template, as KEY=VALUE, where VALUE is JSON or plain text. ConfigError: there
/// is no such template, a setting is invalid, or there are settings but the template is built-in.
/// Other errors: see read_chat_template.
ChatTemplate choose_chat_template(const std::string& name, const std::filesystem::path& folder,
                                  const std::vector<std::string>& settings = {});
/// Makes those checks of choose_chat_template that need no checkpoint. ConfigError: see
/// choose_chat_template.
void check_chat_template(const std::string& name, const std::vector<std::string>& settings);

}  // namespace pardec
