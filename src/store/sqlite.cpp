#include "src/store/sqlite.hpp"

#include <limits>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {
namespace {

constexpr int kBusyTimeoutMs = 30000;

/// The explanation of a result code, and whether the file itself is at fault (exit code 2).
std::string explain(int code, const std::string& message) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "the disk is full, the transaction was rolled back; free space, and give the same "
             "command again (run: with `resume`)";
    case SQLITE_IOERR:
      return str("reading or writing failed (", message,
                 "), the transaction was rolled back; check the disk");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return str("is locked by another process for more than ", kBusyTimeoutMs / 1000,
                 " s; wait for it to end, or choose another database");
    case SQLITE_READONLY:
      return "may not be written, expected a writable file in a writable folder; choose another "
             "database";
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return "cannot be opened, expected a readable and writable file in a writable folder; choose "
             "another database";
    case SQLITE_NOTADB:
      return "is not an SQLite database, expected one that pardec made; choose another database";
    case SQLITE_CORRUPT:
      return str("is damaged (", message, "); restore it from a copy, or choose another database");
    default:
      return message;
  }
}

bool file_at_fault(int code) {
  switch (code & 0xff) {
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_NOTADB:
      return true;
    default:
      return false;
  }
}

/// The path as an SQLite URI. The characters replaced here would end the path or start an escape.
std::string uri(const std::filesystem::path& path) {
  std::string out = path.string();
  out = replace_all(out, "%", "%25");
  out = replace_all(out, "?", "%3f");
  out = replace_all(out, "#", "%23");
  return "file:" + out + "?immutable=1";
}

}  // namespace

void Database::open(const std::filesystem::path& path, int flags, bool immutable) {
  close();
  path_ = path;
  const std::string name = immutable ? uri(path) : path.string();
  // Only one thread at a time uses a connection, so SQLite need not lock it for every column.
  const int code = sqlite3_open_v2(
      name.c_str(), &db_, flags | SQLITE_OPEN_NOMUTEX | (immutable ? SQLITE_OPEN_URI : 0), nullptr);
  if (code != SQLITE_OK) fail(code);
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_busy_timeout(db_, kBusyTimeoutMs);
}

void Database::close() {
  sqlite3_close_v2(db_);
  db_ = nullptr;
}

void Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

bool Database::moved() const {
  int moved = 0;
  sqlite3_file_control(db_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  return moved != 0;
}

void Database::copy_to(Database& other) const {
  sqlite3_backup* copy = sqlite3_backup_init(other.db_, "main", db_, "main");
  if (!copy) other.fail(sqlite3_errcode(other.db_));
  const int copied = sqlite3_backup_step(copy, -1);
  // After a locked or busy database, the end of the backup reports no error.
  if (const int code = sqlite3_backup_finish(copy); code != SQLITE_OK) other.fail(code);
  if (copied != SQLITE_DONE)
    throw StoreError(other.path_.string(), explain(copied, sqlite3_errstr(copied)),
                     file_at_fault(copied) ? 2 : 1);
}

void Database::fail(int code) const {
  const std::string message = db_ ? sqlite3_errmsg(db_) : sqlite3_errstr(code);
  throw StoreError(path_.string(), explain(code, message), file_at_fault(code) ? 2 : 1);
}

Statement::Statement(Database& db, std::string_view sql) : db_(db) {
  check(sqlite3_prepare_v2(db.handle(), sql.data(), static_cast<int>(sql.size()), &statement_,
                           nullptr));
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) db_.fail(code);
  return false;
}

double Statement::real(int column) const {
  return null(column) ? std::numeric_limits<double>::quiet_NaN()
                      : sqlite3_column_double(statement_, column);
}

std::string_view Statement::view(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return bytes ? std::string_view(static_cast<const char*>(bytes), static_cast<std::size_t>(size))
               : std::string_view();
}

std::string Statement::text(int column) const { return std::string(view(column)); }

std::optional<std::string> Statement::maybe_text(int column) const {
  return null(column) ? std::nullopt : std::optional(text(column));
}

std::optional<std::int64_t> Statement::maybe_integer(int column) const {
  return null(column) ? std::nullopt : std::optional(integer(column));
}

std::optional<double> Statement::maybe_real(int column) const {
  return null(column) ? std::nullopt : std::optional(real(column));
}

Json Statement::json(int column) const { return parse_json(view(column), db_.path().string(), 0); }

Json Statement::maybe_json(int column) const { return null(column) ? Json() : json(column); }

void Statement::bind_one(int index, std::string_view value) {
  const std::string text = repair_utf8(value);
  check(sqlite3_bind_text64(statement_, index, text.data(), text.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
}

Snapshot::Snapshot(Database& db) : db_(db), own_(sqlite3_get_autocommit(db.handle()) != 0) {
  if (own_) db_.execute("BEGIN");
}

Snapshot::~Snapshot() {
  if (own_) sqlite3_exec(db_.handle(), "COMMIT", nullptr, nullptr, nullptr);
}

Transaction::~Transaction() {
  // After some errors SQLite has already rolled back.
  if (!sqlite3_get_autocommit(db_.handle()))
    sqlite3_exec(db_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace pardec
