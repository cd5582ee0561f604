#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "attune/error.h"
#include "checks.h"
#include "run_program.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using Call = FileFault::Call;

/// The text of the io error that f throws.
template <class F>
std::string io_error(F f) {
  return error_of(f, ErrorKind::io);
}

size_t entries(const std::string& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

struct FileTest : testing::Test {
  TempFolder folder;
  ~FileTest() override { inject_file_fault({}); }
};

TEST_F(FileTest, WritesAndReadsBytes) {
  const std::string path = folder / "a", content("zero \0 and\nmore", 15);
  write_file(path, content);
  EXPECT_EQ(read_file(path), content);
  write_file(path, "");
  EXPECT_EQ(read_file(path), "");
  const std::string big(3 << 20, 'x');
  write_file(path, big);
  EXPECT_EQ(read_file(path), big);
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST_F(FileTest, ReadsWhatHasNoSize) { EXPECT_NE(read_file("/proc/self/status").find("Pid:"), std::string::npos); }

TEST_F(FileTest, ErrorsNameFileAndReason) {
  const std::string missing = folder / "no/such";
  EXPECT_EQ(io_error([&] { read_file(missing); }),
            "cannot read " + missing + ": No such file or directory\n  fix: check the name: there is no folder " +
                (folder / "no"));
  EXPECT_EQ(io_error([&] { write_file(missing, "x"); }),
            "cannot write " + missing + ": No such file or directory\n  fix: check the name: there is no folder " +
                (folder / "no"));
  EXPECT_EQ(io_error([&] { read_file(folder.path()); }), "cannot read " + folder.path() + ": Is a directory");
  EXPECT_EQ(io_error([&] { write_file(folder.path(), "x"); }), "cannot write " + folder.path() + ": Is a directory");
}

TEST_F(FileTest, WithoutCommitNothingHappens) {
  const std::string path = folder / "a";
  write_file(path, "old");
  {
    FileWriter writer(path);
    writer.write("new");
    EXPECT_EQ(writer.written(), 3);
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(entries(folder.path()), 1u);
}

TEST_F(FileTest, KeepsPermissionsAndLinks) {
  const std::string path = folder / "real", link = folder / "link";
  write_file(path, "old");
  chmod(path.c_str(), 0640);
  fs::create_symlink("real", link);
  write_file(link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read_file(path), "new");
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(FileTest, DevicesAreWrittenInPlace) {
  write_file("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const std::string text = io_error([&] { write_file("/dev/full", std::string(5000, 'x')); });
  EXPECT_TRUE(text.starts_with("cannot write /dev/full: No space left on device (4.9 KB were to be written")) << text;
  EXPECT_NE(text.find("\n  fix: make room"), std::string::npos) << text;
}

TEST_F(FileTest, AShortWriteGoesOn) {
  inject_file_fault({.call = Call::write, .short_write = true});
  write_file(folder / "a", "0123456789");
  EXPECT_EQ(read_file(folder / "a"), "0123456789");
  inject_file_fault({.call = Call::write, .error = EINTR});
  write_file(folder / "a", "abc");
  EXPECT_EQ(read_file(folder / "a"), "abc");
}

TEST_F(FileTest, EveryFailureLeavesTheOldContent) {
  const std::string path = folder / "model.safetensors";
  const struct {
    FileFault fault;
    std::string says;
    bool done = false;  // the new content is already there
  } cases[] = {
      {{.call = Call::open, .nth = 1, .error = EACCES}, "cannot write " + path + ": Permission denied\n  fix: "},
      {{.call = Call::open, .nth = 1, .error = ENOSPC}, "cannot write " + path + ": No space left on device (9 bytes"},
      {{.call = Call::write, .nth = 1, .error = ENOSPC}, "cannot write " + path + ": No space left on device (9 bytes"},
      {{.call = Call::write, .nth = 2, .error = EDQUOT}, "cannot write " + path + ": Disk quota exceeded (9 bytes"},
      {{.call = Call::write, .nth = 2, .error = EIO}, "cannot write " + path + ": Input/output error"},
      {{.call = Call::sync, .nth = 1, .error = EIO}, "cannot write " + path + ": Input/output error"},
      {{.call = Call::rename, .nth = 1, .error = EIO}, "cannot write " + path + ": Input/output error"},
      {{.call = Call::sync, .nth = 2, .error = EIO}, "cannot force to the disk " + folder.path(), true},
  };
  for (const auto& c : cases) {
    inject_file_fault({});
    write_file(path, "old");
    inject_file_fault(c.fault);
    const std::string text = io_error([&] {
      FileWriter writer(path, 9);
      writer.write("new ");
      writer.write("thing");
      writer.commit();
    });
    EXPECT_TRUE(text.starts_with(c.says)) << text;
    EXPECT_EQ(read_file(path), c.done ? "new thing" : "old");
    EXPECT_EQ(entries(folder.path()), 1u) << "something staged was left behind";
  }
}

TEST_F(FileTest, AFolderAppearsWhole) {
  const std::string path = folder / "step-00000001";
  {
    FolderWriter writer(path + "/");
    write_file(writer.path() + "/weights", "1");
    fs::create_directory(writer.path() + "/tokenizer");
    write_file(writer.path() + "/tokenizer/vocabulary", "a b c");
    EXPECT_FALSE(fs::exists(path));
    writer.commit();
  }
  EXPECT_EQ(read_file(path + "/tokenizer/vocabulary"), "a b c");
  EXPECT_EQ(entries(folder.path()), 1u);

  FolderWriter again(path);
  write_file(again.path() + "/weights", "2");
  again.commit();
  EXPECT_EQ(read_file(path + "/weights"), "2");
  EXPECT_FALSE(fs::exists(path + "/tokenizer"));
  EXPECT_EQ(entries(folder.path()), 1u);
}

/// The name of a folder is written in the one above it: that is forced to the disk too, after every file and folder.
TEST_F(FileTest, TheNameOfAFolderIsForcedToTheDisk) {
  const auto write = [&](const std::string& path, int nth) {
    FolderWriter writer(path);
    write_file(writer.path() + "/weights", "new");
    fs::create_directory(writer.path() + "/tokenizer");
    write_file(writer.path() + "/tokenizer/words", "new");
    inject_file_fault({.call = Call::sync, .nth = nth, .error = EIO});
    writer.commit();
  };
  for (int nth = 1; nth <= 4; ++nth) {  // two files, two folders
    EXPECT_NE(io_error([&] { write(folder / "model", nth); }), "no error") << nth;
    EXPECT_EQ(entries(folder.path()), 0u) << nth;
  }
  EXPECT_EQ(io_error([&] { write(folder / "model", 5); }),
            "cannot force to the disk " + folder.path() + ": Input/output error");
  EXPECT_EQ(read_file(folder / "model/weights"), "new") << "it has its name";
  write(folder / "other", 6);  // there is no more to force
}

TEST_F(FileTest, EveryFailureLeavesTheOldFolder) {
  const std::string path = folder / "model";
  {
    FolderWriter writer(path);
    write_file(writer.path() + "/weights", "old");
    writer.commit();
  }
  for (const FileFault fault : {FileFault{.call = Call::sync, .nth = 1, .error = EIO},
                                {.call = Call::sync, .nth = 2, .error = EIO},
                                {.call = Call::open, .nth = 1, .error = EIO},
                                {.call = Call::rename, .nth = 1, .error = EROFS},
                                {.call = Call::rename, .nth = 2, .error = EIO}}) {
    const std::string text = io_error([&] {
      FolderWriter writer(path);
      write_file(writer.path() + "/weights", "new");
      inject_file_fault(fault);
      writer.commit();
    });
    inject_file_fault({});
    EXPECT_NE(text.find(path), std::string::npos) << text;
    EXPECT_EQ(read_file(path + "/weights"), "old");
    EXPECT_EQ(entries(folder.path()), 1u);
  }
  {
    FolderWriter writer(path);
    write_file(writer.path() + "/weights", "never");
  }
  EXPECT_EQ(entries(folder.path()), 1u);
}

}  // namespace
}  // namespace attune
