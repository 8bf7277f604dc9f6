#include "src/runs/shared_run.hpp"

#include <algorithm>
#include <fstream>
#include <functional>

#include "src/runs/runner.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPart = std::size_t{1} << 26;  // bytes of a file in one message

void remove_database(const fs::path& file) {
  std::error_code ignored;
  for (const char* end : {"", "-wal", "-shm"}) fs::remove(file.string() + end, ignored);
}

/// Calls `give` with the parts of a file, and with an empty text at the end.
void give_file(const fs::path& file, const std::function<void(const std::string& part)>& give) {
  std::ifstream in(file, std::ios::binary);
  while (in) {
    std::string part(kPart, '\0');
    in.read(part.data(), static_cast<std::streamsize>(kPart));
    part.resize(static_cast<std::size_t>(in.gcount()));
    if (!part.empty()) give(part);
  }
  if (!in.eof()) throw RunError(str(file.string(), " could not be read to its end"));
  give("");
}

/// Writes a file from its parts, as from give_file.
void take_file(const fs::path& file, const std::function<std::string()>& take) {
  write_file(file, [&](const FileSink& put) {
    for (std::string part = take(); !part.empty(); part = take()) put(part.data(), part.size());
  });
}

/// Beside the database: a file on its way from or to another rank.
fs::path passing_file(const Store& store, const std::string& invocation) {
  return rank_database(store.path(), invocation, 0);
}

/// What ranks of an invocation left beside `db`.
std::vector<fs::path> left_databases(const fs::path& db, const std::string& invocation) {
  const std::string first = rank_database(db, invocation, 0).filename().string(),
                    begin = first.substr(0, first.size() - 1);
  std::vector<fs::path> all;
  std::error_code ignored;
  for (const auto& entry :
       fs::directory_iterator(db.has_parent_path() ? db.parent_path() : ".", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name != first && name.starts_with(begin) && name.size() > begin.size() &&
        name.find_first_not_of("0123456789", begin.size()) == std::string::npos)
      all.push_back(entry.path());
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// Sends rank 0 the databases, one after the other.
void send_databases(Group& group, const std::vector<fs::path>& files) {
  group.send(std::to_string(files.size()));
  for (const fs::path& file : files) {
    // Opening completes a database that was killed at its start, and closing moves its log into the
    // file.
    { Store completed(file); }
    give_file(file, [&](const std::string& part) { group.send(part); });
  }
}

/// Merges what another rank sends by send_databases.
void merge_sent(Group& group, int rank, Store& store, const std::string& invocation) {
  const fs::path file = passing_file(store, invocation);
  for (int left = std::stoi(group.receive(rank)); left > 0; --left) {
    remove_database(file);
    take_file(file, [&] { return group.receive(rank); });
    store.merge(file);
  }
  remove_database(file);
}

/// Finds the stored runs of this process's cells. ConfigError: the settings differ from rank 0's.
void find_runs(Store& store, const std::string& invocation, const Group& group,
               std::vector<RunCell>& cells) {
  const std::string rank = str("the process of rank ", group.rank());
  const std::vector<RunRow> runs = store.find_runs({.invocation = invocation});
  size_t found = 0;
  for (RunCell& cell : cells)
    for (const RunRow& run : runs) {
      if (run.label != cell.row.label || !same_split(run.dataset, cell.row.dataset)) continue;
      if (const auto others = differences(run, cell.row); !others.empty())
        throw ConfigError(str(rank, " has other settings than that of rank 0 for arm ", run.label,
                              " on ", run.dataset.name, ": ", join(others, "; "),
                              "; start all with the same flags, program and files"));
      cell.row.uuid = run.uuid;
      cell.row.invocation = invocation;
      ++found;
    }
  if (found != cells.size() || found != runs.size())
    throw ConfigError(str(rank, " has other arms or datasets than that of rank 0; start all with ",
                          "the same flags and files"));
}

}  // namespace

fs::path rank_database(const fs::path& db, const std::string& invocation, int rank) {
  return str(db.string(), ".", invocation.substr(0, 8), ".rank-", rank);
}

void check_shared(const RunSpec& spec) {
  const auto refuse = [](const std::string& what, const std::string& instead) {
    throw ConfigError(str(what, " cannot be shared by several processes; ", instead));
  };
  if (spec.order != "interleaved") refuse("`order` blocked", "leave it out");
  if (spec.target_ci > 0) refuse("`target_ci`", "leave it out");
  if (spec.repair > 0) refuse("`repair`", "repair in one process with `resume`");
  if (!spec.trace.empty()) refuse("`trace`", "trace in one process");
  if (!spec.shard.text.empty()) refuse("`shard`", "leave it out, blocks are handed out");
  if (forced_arm(spec.arms, "recorded")) refuse("an `oracle` of a recorded run", "use one process");
  for (const Arm& arm : spec.arms)
    if (arm.algorithm->elsewhere())
      refuse(str("arm '", arm.label, "', a service with one budget,"), "use one process");
}

void collect_left(Store& store, const std::string& invocation) {
  remove_database(passing_file(store, invocation));
  for (const fs::path& file : left_databases(store.path(), invocation)) {
    { Store completed(file); }
    store.merge(file);
    remove_database(file);
  }
}

void begin_shared_run(Group& group, Store& store, const std::string& invocation) {
  group.broadcast(invocation);
  collect_left(store, invocation);
  group.barrier();  // a folder may be shared: the others look for files that are left now
  for (int rank = 1; rank < group.size(); ++rank) merge_sent(group, rank, store, invocation);
  group.barrier();
  group.barrier();
  const fs::path copy = passing_file(store, invocation);
  { Store(copy).merge(store.path(), invocation); }
  give_file(copy, [&](const std::string& part) { group.broadcast(part); });
  remove_database(copy);
}

OthersEnd end_shared_run(Group& group, Store& store, const std::string& invocation,
                         RunCounts& counts) {
  group.barrier();
  OthersEnd end;
  for (int rank = 1; rank < group.size(); ++rank) {
    const Json theirs = Json::parse(group.receive(rank));
    end.stopped = end.stopped || theirs.at("stopped").get<bool>();
    end.unfinished = end.unfinished || theirs.at("unfinished").get<bool>();
    counts.busy_ns += theirs.at("busy_ns").get<std::int64_t>();
    counts.rerun += theirs.at("rerun").get<std::int64_t>();
    counts.still_unmeasured += theirs.at("still_unmeasured").get<std::int64_t>();
    counts.other_answers += theirs.at("other_answers").get<std::int64_t>();
    counts.turns_off += theirs.at("turns_off").get<std::int64_t>();
    merge_sent(group, rank, store, invocation);
  }
  group.barrier();
  return end;
}

void join_shared_run(const RunSpec& spec, const std::vector<Workload>& workloads,
                     ArmSessions& sessions, const ExecuteOptions& how) {
  Group& group = *how.group;
  std::vector<RunCell> cells = make_cells(spec, workloads, sessions);
  const std::string invocation = group.broadcast(std::string());
  group.barrier();
  const std::vector<fs::path> left =
      group.first_on_machine() ? left_databases(spec.db, invocation) : std::vector<fs::path>();
  send_databases(group, left);
  group.barrier();
  for (const fs::path& file : left) remove_database(file);
  group.barrier();  // in a shared folder, another rank may have removed a file with this one's name
  const fs::path own = rank_database(spec.db, invocation, group.rank());
  if (how.create_folders && own.has_parent_path()) fs::create_directories(own.parent_path());
  take_file(own, [&] { return group.broadcast(std::string()); });
  const std::stop_token until = how.until.value_or(how.stop);
  RunCounts counts;
  bool unfinished = false;
  {
    Store store(own);
    make_rows(spec, workloads, sessions, store, cells);
    find_runs(store, invocation, group, cells);
    Recorder recorder(spec, workloads, store, cells);
    run_cells(spec, workloads, sessions, cells, recorder, until, {}, &group);
    unfinished = until.stop_requested();
    store.check_place();
    counts = recorder.counts();
  }
  group.barrier();
  group.send(dump(Json{{"stopped", how.stop.stop_requested()},
                       {"unfinished", unfinished},
                       {"busy_ns", counts.busy_ns},
                       {"rerun", counts.rerun},
                       {"still_unmeasured", counts.still_unmeasured},
                       {"other_answers", counts.other_answers},
                       {"turns_off", counts.turns_off}}));
  send_databases(group, {own});
  group.barrier();
  remove_database(own);
}

}  // namespace pardec
