// Runs tasks in the sandbox: each line of input is a JSON object {program, head, test}, each line
// of output its verdict.
#include <iostream>
#include <string>

#include "src/sandbox/python_sandbox.hpp"
#include "src/support/error.hpp"
#include "src/support/json.hpp"

int main() {
  using namespace pardec;
  const PythonSandbox sandbox({.seconds = 1, .memory_megabytes = 256});
  for (std::string line; std::getline(std::cin, line);) {
    const Json task = Json::parse(line);
    Json out;
    try {
      const SandboxResult result =
          sandbox.run({task["program"].get<std::string>(), task["head"].get<std::string>(),
                       task["test"].get<std::string>()});
      out = {{"verdict", name(result.verdict)}, {"reason", result.reason}};
    } catch (const Error& error) {
      out = {{"verdict", "refused"}, {"reason", error.what()}};
    }
    std::cout << dump(out) << std::endl;
  }
}
