#pragma once
#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "src/support/json.hpp"

namespace pardec {

class Statement;

/// One SQLite connection. Every failure of SQLite throws a StoreError that names the file. The exit
/// code is 2 if the file cannot be opened or written, or is not a database; otherwise it is 1.
class Database {
 public:
  Database() = default;
  ~Database() { close(); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Opens a database, after closing the database that is open. `flags`: see sqlite3_open_v2.
  /// `immutable`: the file is read without locks and without its log.
  void open(const std::filesystem::path& path, int flags, bool immutable = false);
  void close();

  /// Runs one or more statements without parameters.
  void execute(const std::string& sql);
  /// Runs one statement with parameters, and ignores its rows.
  template <typename... Values>
  void run(std::string_view sql, const Values&... values);
  /// Runs one statement with parameters. Returns the first column of the first row; 0 if there is
  /// no row.
  template <typename... Values>
  std::int64_t integer(std::string_view sql, const Values&... values);

  /// Whether the file was moved or removed since it was opened.
  bool moved() const;
  /// Overwrites `other` with a copy of this database.
  void copy_to(Database& other) const;

  /// Number of rows that the last INSERT, UPDATE or DELETE changed.
  std::int64_t changes() const { return sqlite3_changes64(db_); }
  sqlite3* handle() const { return db_; }
  const std::filesystem::path& path() const { return path_; }
  /// Throws the StoreError for an SQLite result code.
  [[noreturn]] void fail(int code) const;

 private:
  std::filesystem::path path_;
  sqlite3* db_ = nullptr;
};

/// A prepared statement. Parameters are bound in order; RowReader reads columns in order. Failures
/// throw StoreError, as for Database, which must outlive the statement.
class Statement {
 public:
  Statement(Database& db, std::string_view sql);
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(Statement&& other) noexcept
      : db_(other.db_),
        statement_(std::exchange(other.statement_, nullptr)),
        bound_(other.bound_) {}
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// Resets the statement and binds its first parameters. An optional without a value, a null Json,
  /// and NaN become NULL. Invalid UTF-8 in a text is repaired.
  template <typename... Values>
  Statement& bind(const Values&... values) {
    sqlite3_reset(statement_);
    bound_ = 0;
    return also(values...);
  }
  /// Binds the next parameters, in the same way as `bind`.
  template <typename... Values>
  Statement& also(const Values&... values) {
    (bind_one(++bound_, values), ...);
    return *this;
  }
  /// Advances to the next row. Returns false if there is none.
  bool step();

  /// Number of columns of the current row. The functions with a parameter `column` read this row;
  /// columns are counted from 0.
  int columns() const { return sqlite3_data_count(statement_); }
  /// 0 for NULL.
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  /// NaN for NULL.
  double real(int column) const;
  /// Empty for NULL.
  std::string text(int column) const;
  /// The text without a copy, valid until the next step(). Empty for NULL.
  std::string_view view(int column) const;
  bool null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::optional<std::string> maybe_text(int column) const;
  std::optional<std::int64_t> maybe_integer(int column) const;
  std::optional<double> maybe_real(int column) const;
  /// Null for NULL. DataError: see json().
  Json maybe_json(int column) const;
  /// DataError, which names the database's file: the text is not JSON, or is NULL.
  Json json(int column) const;

 private:
  void bind_one(int index, std::nullptr_t) { check(sqlite3_bind_null(statement_, index)); }
  void bind_one(int index, bool value) { check(sqlite3_bind_int64(statement_, index, value)); }
  void bind_one(int index, int value) { check(sqlite3_bind_int64(statement_, index, value)); }
  void bind_one(int index, std::int64_t value) {
    check(sqlite3_bind_int64(statement_, index, value));
  }
  void bind_one(int index, double value) { check(sqlite3_bind_double(statement_, index, value)); }
  void bind_one(int index, std::string_view value);
  void bind_one(int index, const std::string& value) { bind_one(index, std::string_view(value)); }
  void bind_one(int index, const char* value) { bind_one(index, std::string_view(value)); }
  /// Null is bound as NULL.
  void bind_one(int index, const Json& value) {
    value.is_null() ? bind_one(index, nullptr) : bind_one(index, std::string_view(dump(value)));
  }
  template <typename T>
  void bind_one(int index, const std::optional<T>& value) {
    value ? bind_one(index, *value) : bind_one(index, nullptr);
  }
  void check(int code) const {
    if (code != SQLITE_OK) db_.fail(code);
  }

  Database& db_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

/// Reads a row column by column, in the order of the SELECT. Each function reads the next column,
/// as the function of the same name in Statement does; `small` and `flag` convert an integer.
class RowReader {
 public:
  explicit RowReader(const Statement& row) : row_(row) {}
  std::int64_t integer() { return row_.integer(next_++); }
  int small() { return static_cast<int>(integer()); }
  bool flag() { return integer() != 0; }
  double real() { return row_.real(next_++); }
  std::string text() { return row_.text(next_++); }
  std::string_view view() { return row_.view(next_++); }
  std::optional<std::string> maybe_text() { return row_.maybe_text(next_++); }
  std::optional<std::int64_t> maybe_integer() { return row_.maybe_integer(next_++); }
  std::optional<double> maybe_real() { return row_.maybe_real(next_++); }
  Json maybe_json() { return row_.maybe_json(next_++); }
  Json json() { return row_.json(next_++); }
  /// Whether the next column is NULL. Does not advance.
  bool null() const { return row_.null(next_); }
  void skip(int columns = 1) { next_ += columns; }

 private:
  const Statement& row_;
  int next_ = 0;
};

/// A write transaction. Without commit(), the destructor rolls it back. StoreError: another process
/// has the write lock for more than 30 s. REQUIRES: no transaction or Snapshot is open on this
/// connection.
class Transaction {
 public:
  /// Takes the write lock at once, so that a read lock never has to be upgraded.
  explicit Transaction(Database& db) : db_(db) { db_.execute("BEGIN IMMEDIATE"); }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() { db_.execute("COMMIT"); }

 private:
  Database& db_;
};

/// While this object exists, all reads see the same state of the database, even if other processes
/// write. Within a transaction, it has no effect, since a transaction guarantees the same.
class Snapshot {
 public:
  explicit Snapshot(Database& db);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  Database& db_;
  bool own_;
};

template <typename... Values>
void Database::run(std::string_view sql, const Values&... values) {
  Statement statement(*this, sql);
  statement.bind(values...);
  while (statement.step()) {
  }
}

template <typename... Values>
std::int64_t Database::integer(std::string_view sql, const Values&... values) {
  Statement statement(*this, sql);
  return statement.bind(values...).step() ? statement.integer(0) : 0;
}

}  // namespace pardec
