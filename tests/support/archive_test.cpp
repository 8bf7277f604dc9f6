// Archives that are written here with libarchive itself, entry by entry.
#include "src/support/archive.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <string>
#include <vector>

#include "src/support/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/data.hpp"

using namespace pardec;

namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string name, content, symlink, hardlink;
};

void write_archive(const fs::path& file, const std::vector<Entry>& entries) {
  archive* out = archive_write_new();
  archive_write_add_filter_gzip(out);
  archive_write_set_format_pax_restricted(out);
  REQUIRE(archive_write_open_filename(out, file.c_str()) == ARCHIVE_OK);
  for (const Entry& entry : entries) {
    archive_entry* head = archive_entry_new();
    archive_entry_set_pathname(head, entry.name.c_str());
    archive_entry_set_perm(head, 0644);
    archive_entry_set_filetype(head, entry.name.ends_with('/') ? AE_IFDIR : AE_IFREG);
    archive_entry_set_size(head, static_cast<la_int64_t>(entry.content.size()));
    if (!entry.symlink.empty()) {
      archive_entry_set_filetype(head, AE_IFLNK);
      archive_entry_set_symlink(head, entry.symlink.c_str());
    }
    if (!entry.hardlink.empty()) archive_entry_set_hardlink(head, entry.hardlink.c_str());
    REQUIRE(archive_write_header(out, head) == ARCHIVE_OK);
    archive_write_data(out, entry.content.data(), entry.content.size());
    archive_entry_free(head);
  }
  REQUIRE(archive_write_close(out) == ARCHIVE_OK);
  archive_write_free(out);
}

void nothing(std::int64_t) {}

/// Unpacks into a folder that has `kept` and an old `data/a`. Expects a refusal that changes
/// nothing in it or beside it.
void check_refused(const std::vector<Entry>& entries, const std::string& message, int strip = 0) {
  INFO(message);
  const test::TemporaryFolder temporary;
  const fs::path folder = temporary.path() / "folder";
  fs::create_directories(folder / "data");
  write_file(folder / "kept", "kept");
  write_file(folder / "data/a", "old");
  write_archive(temporary.path() / "x.tar.gz", entries);
  CHECK_THROWS_WITH(unpack_tar(temporary.path() / "x.tar.gz", folder, strip, nothing),
                    Catch::Contains(message) && Catch::Contains("x.tar.gz"));
  CHECK(read_file(folder / "kept") == "kept");
  CHECK(read_file(folder / "data/a") == "old");
  CHECK(std::distance(fs::recursive_directory_iterator(folder), {}) == 3);
  CHECK(std::distance(fs::directory_iterator(temporary.path()), {}) == 2);
}

}  // namespace

TEST_CASE("the files of a tar come without their first folders, and replace what was there") {
  const test::TemporaryFolder folder;
  fs::create_directories(folder.path() / "test/old");
  write_file(folder.path() / "test/old/1.txt", "old");
  write_file(folder.path() / "other", "kept");
  write_archive(folder.path() / "x.tar.gz",
                {{"./RACE/", "", "", ""},
                 {"./RACE/README", "r", "", ""},
                 {"RACE/test/high/1.txt", "one", "", ""},
                 {"RACE/test/high/empty.txt", "", "", ""},
                 {"RACE/dev//middle/2.txt", std::string(1 << 20, 'x'), "", ""},
                 {"above", "left out", "", ""}});
  std::int64_t read = 0;
  CHECK(unpack_tar(folder.path() / "x.tar.gz", folder.path(), 1,
                   [&](std::int64_t done) { read = done; }) == 4);
  CHECK(read > 0);
  CHECK(read_file(folder.path() / "test/high/1.txt") == "one");
  CHECK(read_file(folder.path() / "test/high/empty.txt").empty());
  CHECK(read_file(folder.path() / "dev/middle/2.txt") == std::string(1 << 20, 'x'));
  CHECK(read_file(folder.path() / "README") == "r");
  CHECK(read_file(folder.path() / "other") == "kept");
  CHECK_FALSE(fs::exists(folder.path() / "test/old"));
  CHECK_FALSE(fs::exists(folder.path() / "above"));
  CHECK_FALSE(fs::exists(folder.path() / ".unpacking"));
}

TEST_CASE("an archive that would write outside the folder is refused, and changes nothing") {
  const Entry good{"data/b", "new", "", ""};
  check_refused({good, {"../outside", "x", "", ""}}, "leads out of the archive");
  check_refused({good, {"data/../../outside", "x", "", ""}}, "leads out of the archive");
  check_refused({good, {"/outside", "x", "", ""}}, "leads out of the archive");
  check_refused({good, {"link", "", "/etc", ""}, {"link/x", "x", "", ""}}, "is a link");
  check_refused({good, {"data/c", "", "", "/etc/passwd"}}, "is a link");
  check_refused({{"data/", "", "", ""}}, "holds no file");
  check_refused({good}, "holds no file", 2);
}

TEST_CASE("an archive that unpacks to far more than its size is refused") {
  // 80 MiB of zeros, which gzip compresses to some 80 kB.
  check_refused({{"data/b", std::string(80 << 20, '\0'), "", ""}}, "unpacks to more than");
  // A hole of a terabyte, as GNU tar notes it.
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "sparse.tar";
  archive* out = archive_write_new();
  archive_write_set_format_pax(out);
  REQUIRE(archive_write_open_filename(out, file.c_str()) == ARCHIVE_OK);
  archive_entry* head = archive_entry_new();
  archive_entry_set_pathname(head, "hole");
  archive_entry_set_perm(head, 0644);
  archive_entry_set_filetype(head, AE_IFREG);
  archive_entry_set_size(head, la_int64_t{1} << 40);
  archive_entry_sparse_add_entry(head, 0, 1);
  REQUIRE(archive_write_header(out, head) == ARCHIVE_OK);
  archive_write_data(out, "x", 1);
  archive_entry_free(head);
  REQUIRE(archive_write_close(out) == ARCHIVE_OK);
  archive_write_free(out);
  CHECK_THROWS_WITH(unpack_tar(file, folder.path(), 0, nothing),
                    Catch::Contains("sparse.tar: unpacks to more than 6"));
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("damaged archives are refused") {
  const test::TemporaryFolder folder;
  const fs::path whole = folder.path() / "whole.tar.gz", cut = folder.path() / "cut.tar.gz";
  std::string noise;
  for (std::int64_t i = 0; i < 200'000; ++i)
    noise += static_cast<char>((i * 7919 >> 3) ^ (i * i >> 5));
  write_archive(whole, {{"data/a", noise, "", ""}, {"data/b", noise, "", ""}});
  const std::string bytes = read_file(whole);
  for (const std::size_t length : {bytes.size() - 1000, bytes.size() / 2, std::size_t{5}}) {
    write_file(cut, std::string_view(bytes).substr(0, length));
    CHECK_THROWS_WITH(unpack_tar(cut, folder.path(), 0, nothing), Catch::Contains("cut.tar.gz"));
    CHECK_FALSE(fs::exists(folder.path() / "data"));
    CHECK_THROWS_WITH(unpack_file(cut, folder.path() / "one", nothing),
                      Catch::Contains("cut.tar.gz"));
    CHECK_FALSE(fs::exists(folder.path() / "one"));
  }
  write_file(cut, "not packed at all");
  CHECK_THROWS_WITH(unpack_file(cut, folder.path() / "one", nothing),
                    Catch::Contains("is not compressed"));
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 2);
}
