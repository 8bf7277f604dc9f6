#pragma once
#include <stdexcept>
#include <string>

#include "src/serve/http.hpp"

namespace pardec::serve {

/// An error to report to the client, with the members of OpenAI's errors. Functions that handle a
/// request throw this error, and Service::handle sends it to the client (error_reply).
struct ApiError : std::runtime_error {
  ApiError(int status_, const std::string& message, std::string param_ = "", std::string code_ = "")
      : std::runtime_error(message),
        status(status_),
        param(std::move(param_)),
        code(std::move(code_)) {}

  int status;         ///< HTTP status, 400 to 599
  std::string param;  ///< name of the request's field that caused the error; empty: no such field
  std::string code;   ///< OpenAI's error code, e.g. model_not_found; empty: no code
};

/// The error as JSON in OpenAI's form: {"error": {message, type, param, code}}. The value of
/// `type`, e.g. invalid_request_error, follows from the status. An empty `param` or `code` becomes
/// null.
std::string error_body(const ApiError& error);
/// A reply with the status of the error and with error_body. If the status is 503,
/// HttpReply::retry_after is 1.
HttpReply error_reply(const ApiError& error);

}  // namespace pardec::serve
