#pragma once
#include <stdexcept>
#include <string>

#include "src/serve/http.hpp"

namespace pardec::serve {

/// A request that is refused, in OpenAI's terms.
struct ApiError : std::runtime_error {
  ApiError(int status_, const std::string& message, std::string param_ = "", std::string code_ = "")
      : std::runtime_error(message),
        status(status_),
        param(std::move(param_)),
        code(std::move(code_)) {}

  int status;
  std::string param;  ///< the field at fault; empty: none
  std::string code;   ///< e.g. model_not_found; empty: none
};

/// {"error": {message, type, param, code}}, as OpenAI's service writes it.
std::string error_body(const ApiError& error);
HttpReply error_reply(const ApiError& error);

}  // namespace pardec::serve
