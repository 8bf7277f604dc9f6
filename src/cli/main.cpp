#include <cstdio>
#include <exception>

#include "src/cli/command_line.hpp"
#include "src/cli/visible_output.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

int main(int argc, char** argv) {
  using namespace pardec;
  const VisibleOutput visible;
  try {
    return run_command_line(
        {run_verb(), generate_verb(), compare_verb(), score_verb(), report_verb(), plot_verb(),
         merge_verb(), roofline_verb(), data_verb(), model_verb(), train_verb(), list_verb(),
         doctor_verb()},
        argc, argv);
  } catch (const Error& error) {
    std::fprintf(stderr, "pardec: %s\n", visible_text(error.what()).c_str());
    return error.exit_code();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pardec: %s\n", visible_text(reason_of(error)).c_str());
    return 1;
  }
}
