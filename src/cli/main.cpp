#include <cstdio>
#include <exception>
#include <new>

#include "src/cli/command_line.hpp"
#include "src/support/error.hpp"

int main(int argc, char** argv) {
  using namespace pardec;
  try {
    return run_command_line(
        {run_verb(), generate_verb(), compare_verb(), score_verb(), report_verb(), plot_verb(),
         merge_verb(), roofline_verb(), data_verb(), model_verb(), train_verb(), list_verb(),
         doctor_verb()},
        argc, argv);
  } catch (const Error& error) {
    std::fprintf(stderr, "pardec: %s\n", error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "pardec: out of memory; use a smaller batch, stack or network\n");
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pardec: internal error: %s\n", error.what());
    return 1;
  }
}
