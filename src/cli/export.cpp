// `pardec export`: exports one invocation as flat tables for other programs.
#include <iostream>
#include <memory>

#include "src/cli/command_line.hpp"
#include "src/cli/common_flags.hpp"
#include "src/cli/with_flags.hpp"
#include "src/cli/written_files.hpp"
#include "src/report/export.hpp"
#include "src/store/invocations.hpp"
#include "src/support/error.hpp"

namespace pardec {

Verb export_verb() {
  struct Flags : ComparisonFlags {
    std::string format = "csv", out;
  };
  return {"export",
          "write a run as flat tables for pandas and other programs",
          "pardec export --db r.sqlite --format csv --out tables\n  pardec export --db r.sqlite "
          "--run ID --format parquet --out tables",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<Flags>();
            add_flags(app, *flags);
            app.add_option("--format", flags->format, "csv, jsonl or parquet (with pyarrow)")
                ->capture_default_str()
                ->type_name("FORMAT");
            app.add_option("--out", flags->out, "folder of the files, one for each table")
                ->required()
                ->type_name("DIR");
            return [flags, &app] {
              const ExportFormat format = parse_export_format(flags->format);
              const ReadFiles read = files_read(app, {.folders = {"--out"}});
              for (const auto& file : table_files(format, flags->out)) read.check("--out", file);
              check_compare_options(flags->compare);
              const auto store = open_to_compare(flags->db, flags->run);
              read_traced(*flags);
              const Comparison comparison =
                  compare(*store, find_invocation(*store, flags->run), flags->compare);
              for (const ExportedFile& file :
                   export_tables(*store, comparison, format, flags->out, with_flags))
                std::cout << file.file.string() << " " << file.rows << "\n";
              return exit_code(comparison, flags->strict);
            };
          },
          {},
          {},
          {"--trace", "--format"}};
}

}  // namespace pardec
