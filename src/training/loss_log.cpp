#include "src/training/loss_log.hpp"

#include <cstdio>

#include "src/support/child_program.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr const char* kHeader =
    "step,tokens,lr,train_loss,validation_loss,seconds,tokens_per_second";

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

}  // namespace

void LossLog::read_through(std::int64_t step) {
  const auto lines = split(read_file(csv_), '\n');
  for (size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const auto fields = split(lines[i], ',');
    if (fields.size() != 7)
      throw DataError(csv_.string(), static_cast<long>(i) + 1,
                      str("has ", fields.size(), " fields, expected 7: ", kHeader));
    const auto value = [&](size_t field) {
      const auto read = number_in<double>(fields[field]);
      if (!read)
        throw DataError(csv_.string(), static_cast<long>(i) + 1,
                        str("has '", fields[field], "', expected a number"));
      return *read;
    };
    LossRow row{static_cast<std::int64_t>(value(0)),
                static_cast<std::int64_t>(value(1)),
                value(2),
                value(3),
                std::nullopt,
                value(5),
                value(6)};
    if (!fields[4].empty()) row.validation_loss = value(4);
    if (row.step <= step) rows_.push_back(row);
  }
}

void LossLog::write() const {
  std::string text = str(kHeader, "\n");
  for (const LossRow& row : rows_)
    text +=
        str(row.step, ",", row.tokens, ",", number(row.learning_rate), ",", number(row.train_loss),
            ",", row.validation_loss ? number(*row.validation_loss) : std::string(), ",",
            number(row.seconds), ",", number(row.tokens_per_second), "\n");
  write_file(csv_, text);
}

bool draw_loss(const std::filesystem::path& csv, const std::filesystem::path& svg) {
  const std::string temporary = svg.string() + ".tmp";
  // Paths are inserted as string values: single quotes are doubled, and no other character is
  // special.
  const auto quoted = [](const std::string& text) {
    return str("'", replace_all(text, "'", "''"), "'");
  };
  const std::string data = quoted(csv.string());
  const std::string script = str(
      "set terminal svg size 720,420 dynamic font 'sans-serif,13' background rgb 'white'\n",
      "set output ", quoted(temporary), "\nset datafile separator ','\n",
      "set xlabel 'tokens fed (millions)'\nset ylabel 'cross-entropy (nats a target)'\n",
      "set key top right\nset grid lc rgb '#dddddd'\nset logscale y\nset border 3\nset tics "
      "nomirror\n",
      "plot ", data, " skip 1 using ($2/1e6):4 with lines lc rgb '#9db8d9' title 'training', ",
      data,
      " skip 1 using ($2/1e6):(strlen(strcol(5)) ? $5 : NaN) with linespoints pt 7 ps 0.5 lw 2 lc "
      "rgb '#c0392b' title 'validation'\n");
  const bool good = run_child({"gnuplot", "-d"}, script).good();
  std::error_code error;
  if (good)
    std::filesystem::rename(temporary, svg, error);
  else
    std::filesystem::remove(temporary, error);
  return good && !error;
}

}  // namespace pardec
