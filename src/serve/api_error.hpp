#pragma once
#include <stdexcept>
#include <string>

#include "src/serve/http.hpp"

namespace pardec::serve {

/// The reason why a request is refused, with the members of OpenAI's errors.
struct ApiError : std::runtime_error {
  ApiError(int status_, const std::string& message, std::string param_ = "", std::string code_ = "")
      : std::runtime_error(message),
        status(status_),
        param(std::move(param_)),
        code(std::move(code_)) {}

  int status;
  std::string param;  ///< the request's field at fault; empty: none
  std::string code;   ///< e.g. model_not_found; empty: none
};

/// The error as JSON in OpenAI's form: {"error": {message, type, param, code}}.
std::string error_body(const ApiError& error);
HttpReply error_reply(const ApiError& error);

}  // namespace pardec::serve
