#pragma once
#include <stdexcept>
#include <string>

#include "src/serve/http.hpp"

namespace pardec::serve {

/// An error to report to the client, with the members of OpenAI's errors. Thrown while a request is
/// handled.
struct ApiError : std::runtime_error {
  ApiError(int status_, const std::string& message, std::string param_ = "", std::string code_ = "")
      : std::runtime_error(message),
        status(status_),
        param(std::move(param_)),
        code(std::move(code_)) {}

  int status;         ///< HTTP status, 400 to 599
  std::string param;  ///< the request's field at fault; empty: none
  std::string code;   ///< OpenAI's error code, e.g. model_not_found; empty: none
};

/// The error as JSON in OpenAI's form: {"error": {message, type, param, code}}. The status
/// determines the type, for example invalid_request_error.
std::string error_body(const ApiError& error);
/// The reply with this error. With status 503, the reply has HttpReply::retry_after 1.
HttpReply error_reply(const ApiError& error);

}  // namespace pardec::serve
