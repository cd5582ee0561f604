// Pictures of IDX files, as MNIST and its kin have them: a magic number (two zeros, the type 8 for bytes, the number of
// dimensions), the sizes, 4 bytes each, the most significant first, and then the bytes. A row is a pixel, scaled to
// 0..1 (no mean is taken off: what scale suits a model its first layer learns), with its place on two axes: line and
// column.
#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/text.h"
#include "data/files/row_files.h"
#include "data/files/text_file.h"

namespace attune {

namespace {

constexpr uint32_t kPictures = 0x803, kLabels = 0x801;
constexpr uint32_t kMostSide = 4096;

/// One IDX file of bytes, entry by entry.
class IdxFile {
 public:
  /// `magic` is what it should begin with.
  IdxFile(const std::string& path, uint32_t magic) : file_(path) {
    const bool pictures = magic == kPictures;
    const uint32_t begin = number();
    if (begin != magic)
      fail(ErrorKind::data, "{}: no IDX file of {}: it begins with {:08x}, not with {:08x}\n  fix: {}", name(),
           pictures ? "pictures" : "labels", begin, magic,
           begin == kPictures || begin == kLabels
               ? "name files of pictures, and after each its labels where they are asked for"
               : "check the file; .gz is read as it is, other archives are not");
    count_ = number();
    for (uint32_t d = 1; d < (magic & 0xff); ++d) sizes_[d - 1] = number();
    if (pictures && (sizes_[0] == 0 || sizes_[1] == 0 || sizes_[0] > kMostSide || sizes_[1] > kMostSide))
      fail(ErrorKind::data, "{}: pictures of {} x {} pixels, wanted 1 to {} on each side\n  fix: check the file",
           name(), sizes_[0], sizes_[1], kMostSide);
    if (count_ == 0) fail(ErrorKind::data, "{}: it says that it has nothing\n  fix: check the file", name());
    entry_.resize(static_cast<size_t>(sizes_[0]) * sizes_[1]);
  }

  const std::string& name() const { return file_.name(); }
  int64_t count() const { return count_; }
  int64_t height() const { return sizes_[0]; }
  int64_t width() const { return sizes_[1]; }
  /// The bytes of the next entry; false after the last.
  bool next(std::string_view& bytes) {
    if (read_ == count_) {
      char more = 0;
      const bool is_more = file_.read(&more, 1) > 0;
      if (!file_.trouble().empty())  // what a .gz says of itself at its end
        fail(ErrorKind::data, "{}: {}\n  fix: fetch the file again", name(), file_.trouble());
      if (is_more)
        fail(ErrorKind::data, "{}: there is more behind the {} that it says it has\n  fix: check the file", name(),
             thousands(count_));
      return false;
    }
    read(entry_.data(), entry_.size());
    ++read_;
    bytes = {entry_.data(), entry_.size()};
    return true;
  }

 private:
  uint32_t number() {
    std::array<char, 4> b{};
    read(b.data(), b.size());
    uint32_t x = 0;
    for (const char c : b) x = x << 8 | static_cast<uint8_t>(c);
    return x;
  }
  void read(char* to, size_t bytes) {
    for (size_t got = 0; got < bytes;) {
      const size_t n = file_.read(to + got, bytes - got);
      if (n == 0)
        fail(ErrorKind::data, "{}: {} after {} of {} entries\n  fix: fetch the file again", name(),
             file_.trouble().empty() ? "it ends" : file_.trouble(), thousands(read_), thousands(count_));
      got += n;
    }
  }

  TextFile file_;
  int64_t count_ = 0, read_ = 0;
  std::array<uint32_t, 2> sizes_{1, 1};
  std::vector<char> entry_;
};

class PictureReader : public RowReader {
 public:
  explicit PictureReader(const RowFiles& files) : files_(files) {
    const size_t each = files.answers ? 2 : 1;
    if (files.files.empty() || files.files.size() % each != 0)
      fail(ErrorKind::recipe,
           "{} names {} file{}, and pictures go with their labels\n  fix: {} = [\"train-images-idx3-ubyte.gz\", "
           "\"train-labels-idx1-ubyte.gz\"]",
           files.key, files.files.size(), files.files.size() == 1 ? "" : "s", files.key);
    for (const std::string& file : files.files)
      if (std::error_code none; file == "-" || std::filesystem::is_fifo(file, none))
        fail(ErrorKind::data, "{}: pictures can't come through a pipe\n  fix: write them to a file, and name it", file);
    for (size_t i = 0; i < files.files.size(); i += each) {
      const IdxFile pictures(files.files[i], kPictures);
      const RowShape own{1, {pictures.height(), pictures.width()}, pictures.height() * pictures.width()};
      if (i == 0) shape_ = own;
      shape_.cover(own);
      if (!files.answers) continue;
      const IdxFile labels(files.files[i + 1], kLabels);
      if (labels.count() != pictures.count())
        fail(ErrorKind::data, "{} has {} pictures, {} has {} labels\n  fix: name files that belong together",
             pictures.name(), thousands(pictures.count()), labels.name(), thousands(labels.count()));
    }
  }

  bool next(RowExample& e) override {
    std::string_view pixels, label;
    while (!pictures_ || !pictures_->next(pixels)) {
      if (labels_ && pictures_) labels_->next(label);  // that there is nothing behind the last
      if (at_ == files_.files.size()) return false;
      pictures_ = std::make_unique<IdxFile>(files_.files[at_++], kPictures);
      if (files_.answers) labels_ = std::make_unique<IdxFile>(files_.files[at_++], kLabels);
      number_ = 0;
    }
    e.source.clear();
    e.source.width = 1;
    e.source.axes = 2;
    std::vector<float>& values = e.source.values.own();
    for (const char p : pixels) values.push_back(static_cast<float>(static_cast<uint8_t>(p)) / 255);
    const std::array<int32_t, 2> sizes{static_cast<int32_t>(pictures_->height()),
                                       static_cast<int32_t>(pictures_->width())};
    add_grid_places(sizes, e.source.places);
    e.source.segments.add(std::ssize(pixels));
    e.name = fmt::format("{}:{}", std::filesystem::path(pictures_->name()).filename().string(), ++number_);
    e.content.assign(pixels);
    e.answers.clear();
    if (labels_ && labels_->next(label)) e.answers = {std::to_string(static_cast<uint8_t>(label[0]))};
    return true;
  }
  RowShape shape() const override { return shape_; }
  Layout source_layout() const override {
    return {{{ColumnUse::grid, ColumnType::i32, 1}, {ColumnUse::values, ColumnType::u8, 1}}};
  }

 private:
  RowFiles files_;
  RowShape shape_;
  size_t at_ = 0;  // of the files
  int64_t number_ = 0;
  std::unique_ptr<IdxFile> pictures_, labels_;
};

}  // namespace

std::unique_ptr<RowReader> open_pictures(const RowFiles& files) { return std::make_unique<PictureReader>(files); }

}  // namespace attune
