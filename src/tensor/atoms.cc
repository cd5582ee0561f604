#include "tensor/atoms.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"

namespace attune {

namespace {

constexpr int64_t kEnd = Atom::kFar;  // of runs that go on to the end
constexpr int64_t kMost = 1 << 30;    // products of two are numbers still

/// i - j in {0, gap, 2 gap, ...}: causal the last `width` of them, otherwise width / 2 to each side.
class Band : public Atom {
 public:
  explicit Band(const AtomSetup& s)
      : back_(s.causal ? s.numbers[0] - 1 : s.numbers[0] / 2), on_(s.causal ? 0 : back_), gap_(s.numbers[1]) {}
  void keys(int64_t i, const PatternRows&, std::vector<KeyRun>& out) const override {
    out.push_back({i - back_ * gap_, i + on_ * gap_ + 1, gap_});
  }
  Gather gather(const PatternRows& of, RowOrder& order) const override {
    return gap_ == 1 ? Gather::none : by_classes(gap_, of.length, of.length, order);
  }
  int64_t reach() const override { return back_ * gap_; }

  /// Positions that are multiples of `apart` from each other lie side by side, in each part of the sequence that is
  /// `part` long: class by class, short ones several to a tile.
  static Gather by_classes(int64_t apart, int64_t part, int64_t length, RowOrder& order) {
    for (int64_t begin = 0; begin < length; begin += part) {
      const int64_t end = std::min(length, begin + part);
      for (int64_t c = begin; c < std::min(begin + apart, end); ++c) {
        const int64_t count = (end - c + apart - 1) / apart;
        if (order.open() + std::min(count, TilePattern::kRows) > TilePattern::kRows) order.end_tile();
        for (int64_t i = c; i < end; i += apart) {
          if (order.open() == TilePattern::kRows) order.end_tile();
          order.rows.push_back(static_cast<int32_t>(i));
        }
      }
    }
    order.end_tile();
    return Gather::rows;
  }

 private:
  int64_t back_, on_, gap_;
};

/// The first positions, or chosen ones, see all and are seen by all.
class Global : public Atom {
 public:
  explicit Global(const AtomSetup& s) : first_(s.at.empty() ? s.numbers[0] : 0), at_(s.at) {
    std::sort(at_.begin(), at_.end());
    at_.erase(std::unique(at_.begin(), at_.end()), at_.end());
  }
  void keys(int64_t i, const PatternRows& of, std::vector<KeyRun>& out) const override {
    if (stays(i)) {
      out.push_back({0, kEnd});
      return;
    }
    if (first_ > 0) out.push_back({0, first_});
    for (auto j = at_.begin(); j != at_.end() && *j < of.length; ++j) out.push_back({*j, *j + 1});
  }
  /// A chosen one sees all that came before it; of the first ones, all of that stays.
  int64_t reach() const override { return at_.empty() ? 0 : kFar; }
  bool stays(int64_t j) const override { return j < first_ || std::binary_search(at_.begin(), at_.end(), j); }

 private:
  int64_t first_;
  std::vector<int64_t> at_;
};

/// The first positions are seen by all.
class Seen : public Atom {
 public:
  explicit Seen(const AtomSetup& s) : first_(s.numbers[0]) {}
  void keys(int64_t, const PatternRows&, std::vector<KeyRun>& out) const override { out.push_back({0, first_}); }
  int64_t reach() const override { return 0; }
  bool stays(int64_t j) const override { return j < first_; }

 private:
  int64_t first_;
};

/// Each block of positions sees some that are drawn: of a causal pattern among those up to its own.
class Random : public Atom {
 public:
  explicit Random(const AtomSetup& s) : count_(s.numbers[0]), block_(s.block), seed_(s.seed), causal_(s.causal) {}
  void keys(int64_t i, const PatternRows& of, std::vector<KeyRun>& out) const override {
    const int64_t own = i / block_, blocks = causal_ ? own + 1 : (of.length + block_ - 1) / block_;
    if (count_ >= blocks) {
      out.push_back({0, blocks * block_});
      return;
    }
    const attune::Random random(mix(seed_, static_cast<uint64_t>(own)));
    std::unordered_set<int64_t> many;  // of more than a look at each of those drawn so far finds quickly
    const size_t first = out.size();
    const auto is_drawn = [&](int64_t block) {
      return count_ > kFew ? many.contains(block)
                           : std::any_of(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                                         [&](const KeyRun& r) { return r.from == block * block_; });
    };
    for (int64_t t = blocks - count_; t < blocks; ++t) {  // Floyd's way to draw different ones
      const auto x = static_cast<int64_t>(random.at(static_cast<uint64_t>(t)) % static_cast<uint64_t>(t + 1));
      const int64_t drawn = is_drawn(x) ? t : x;
      if (count_ > kFew) many.insert(drawn);
      out.push_back({drawn * block_, (drawn + 1) * block_});
    }
  }

 private:
  static constexpr int64_t kFew = 32;
  int64_t count_, block_;
  uint64_t seed_;
  bool causal_;
};

/// A run of positions sees itself and what lies `back` before and `on` behind it.
class Chunk : public Atom {
 public:
  Chunk(int64_t length, int64_t back, int64_t on) : length_(length), back_(back), on_(on) {}
  void keys(int64_t i, const PatternRows&, std::vector<KeyRun>& out) const override {
    const int64_t own = i / length_ * length_;
    out.push_back({own - back_, own + length_ + on_});
  }
  int64_t reach() const override { return length_ - 1 + back_; }

  /// The own block and its neighbours: causal the last `count` of them, otherwise (count - 1) / 2 to each side.
  static std::shared_ptr<const Atom> of_blocks(const AtomSetup& s) {
    const int64_t beside = s.causal ? s.numbers[0] - 1 : (s.numbers[0] - 1) / 2;
    return std::make_shared<Chunk>(s.block, beside * s.block, s.causal ? 0 : beside * s.block);
  }
  static std::shared_ptr<const Atom> with_memory(const AtomSetup& s) {
    const int64_t memory = s.numbers[1], on = s.causal ? 0 : memory / 2;
    return std::make_shared<Chunk>(s.numbers[0], memory - on, on);
  }

 private:
  int64_t length_, back_, on_;
};

/// i - j is a multiple of the stride: a column of a grid; within parts of the sequence, of one of its planes.
class Strided : public Atom {
 public:
  explicit Strided(const AtomSetup& s) : stride_(s.numbers[0]), part_(s.numbers[1] > 0 ? s.numbers[1] : kEnd) {}
  void keys(int64_t i, const PatternRows&, std::vector<KeyRun>& out) const override {
    const int64_t begin = i / part_ * part_;
    out.push_back({begin + (i - begin) % stride_, part_ == kEnd ? kEnd : begin + part_, stride_});
  }
  Gather gather(const PatternRows& of, RowOrder& order) const override {
    return Band::by_classes(stride_, std::min(part_, std::max<int64_t>(of.length, 1)), of.length, order);
  }
  int64_t reach() const override { return part_ == kEnd ? kFar : part_ - 1; }

 private:
  int64_t stride_, part_;
};

/// The last few positions of every so many are seen by all.
class Columns : public Atom {
 public:
  explicit Columns(const AtomSetup& s) : every_(s.numbers[0]), summary_(s.numbers[1]) {}
  void keys(int64_t, const PatternRows& of, std::vector<KeyRun>& out) const override {
    if (summary_ == every_) return out.push_back({0, kEnd});
    if (2 * summary_ > every_) {  // as few runs as may be: along the sequence, or across it
      for (int64_t from = every_ - summary_; from < of.length; from += every_) out.push_back({from, from + summary_});
      return;
    }
    for (int64_t c = every_ - summary_; c < std::min(every_, of.length); ++c) out.push_back({c, kEnd, every_});
  }
  Gather gather(const PatternRows& of, RowOrder& order) const override {
    for (int64_t j = 0; j < of.length; ++j) {
      if (!stays(j)) continue;
      if (order.open() == TilePattern::kRows) order.end_tile();
      order.rows.push_back(static_cast<int32_t>(j));
    }
    order.end_tile();
    return Gather::keys;
  }
  int64_t reach() const override { return 0; }
  bool stays(int64_t j) const override { return j % every_ >= every_ - summary_; }

 private:
  int64_t every_, summary_;
};

/// Of a picture, row by row: a rectangle of it sees itself and what lies around it.
class Rectangle : public Atom {
 public:
  explicit Rectangle(const AtomSetup& s)
      : rows_(s.numbers[0]),
        columns_(s.numbers[1]),
        above_(s.numbers[2]),
        beside_(s.numbers[3]),
        width_(s.numbers[4]),
        below_(s.causal ? 0 : above_),
        causal_(s.causal) {}
  void keys(int64_t i, const PatternRows& of, std::vector<KeyRun>& out) const override {
    const int64_t row = i / width_ / rows_ * rows_, column = i % width_ / columns_ * columns_;
    const int64_t height = causal_ ? i / width_ + 1 : (of.length + width_ - 1) / width_;
    const int64_t from = std::max<int64_t>(0, column - beside_), to = std::min(width_, column + columns_ + beside_);
    for (int64_t r = std::max<int64_t>(0, row - above_); r < std::min(height, row + rows_ + below_); ++r)
      out.push_back({r * width_ + from, r * width_ + to});
  }
  /// Squares of 8 x 8: few of them meet, most of those wholly.
  Gather gather(const PatternRows& of, RowOrder& order) const override {
    constexpr int64_t kSide = 8;
    for (int64_t row = 0; row * width_ < of.length; row += kSide)
      for (int64_t column = 0; column < width_; column += kSide) {
        for (int64_t r = row; r < row + kSide; ++r)
          for (int64_t c = column; c < std::min(column + kSide, width_); ++c)
            if (r * width_ + c < of.length) order.rows.push_back(static_cast<int32_t>(r * width_ + c));
        order.end_tile();
      }
    return Gather::rows;
  }
  int64_t reach() const override { return (above_ + rows_) * width_; }

 private:
  int64_t rows_, columns_, above_, beside_, width_, below_;
  bool causal_;
};

/// The rows that edges of the example name; every row where it has none.
class ByEdges : public Atom {
 public:
  void keys(int64_t i, const PatternRows& of, std::vector<KeyRun>& out) const override {
    if (!of.edges) {
      out.push_back({0, kEnd});
      return;
    }
    for (const int32_t j : of.edges->of(of.first + i)) {
      check(j >= 0 && j < of.length, "edges", "an edge to row {} of a sequence of {}", j, of.length);
      out.push_back({j, j + 1});
    }
  }
  bool by_edges() const override { return true; }
};

template <class T>
std::shared_ptr<const Atom> make(const AtomSetup& s) {
  return std::make_shared<T>(s);
}

const AtomKind kKinds[] = {
    {"band", "the neighbours, or every gap-th of them", {{"band", 0}, {"gap", 1}}, false, make<Band>},
    {"global", "the first positions, or those `at`, see all and are seen by all", {{"global", 0}}, true, make<Global>},
    {"seen", "the first positions are seen by all", {{"seen", 0}}, false, make<Seen>},
    {"random", "so many blocks for each block, drawn by the seed and the layer", {{"random", 0}}, false, make<Random>},
    {"block", "the own block and those beside it", {{"block", 0}}, false, Chunk::of_blocks},
    {"chunk",
     "the own run of so many positions, and as many before it (elsewhere: around it) as its memory",
     {{"chunk", 0}, {"memory", 0, 0}},
     false,
     Chunk::with_memory},
    {"strided",
     "every so many positions; within parts of the sequence",
     {{"strided", 0}, {"within", 0, 0}},
     false,
     make<Strided>},
    {"columns",
     "the last `summary` of every so many positions",
     {{"columns", 0}, {"summary", 1}},
     false,
     make<Columns>},
    {"rectangle",
     "of a picture `of` so many columns: the own rectangle, as high as that and `by` so many wide, and what lies above "
     "and beside",
     {{"rectangle", 0}, {"by", 0}, {"above", 0, 0}, {"beside", 0, 0}, {"of", 0}},
     false,
     make<Rectangle>},
    {"edges",
     "the rows that edges of the example name",
     {{"edges", 1}},
     false,
     [](const AtomSetup&) -> std::shared_ptr<const Atom> { return std::make_shared<ByEdges>(); }},
};

/// One of the atoms, as a recipe has it: names and numbers, in any order.
struct AtomText {
  std::string key, text;

  [[noreturn]] void refuse(const std::string& why) const {
    std::string names;
    for (const AtomKind& k : kKinds) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", k.name);
      for (size_t i = 1; i < k.options.size(); ++i)
        names += fmt::format("{}{}{}", i == 1 ? " (" : " ", k.options[i].name, i + 1 == k.options.size() ? ")" : "");
      if (k.takes_positions) names += " (at)";
    }
    fail(ErrorKind::recipe,
         "{}: the atom \"{}\" {}\n  fix: for example atoms = [{{ band = 128 }}, {{ global = 2 }}]; there are {}", key,
         text, why, names);
  }
  int64_t number(std::string_view word, int64_t least) const {
    int64_t n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc() || end != word.data() + word.size() || n < least || n > kMost)
      refuse(fmt::format("wants a number from {} to {}, not \"{}\"", least, kMost, word));
    return n;
  }
  static bool is_option(const AtomKind& kind, std::string_view word) {
    return std::any_of(kind.options.begin(), kind.options.end(), [&](const AtomOption& o) { return o.name == word; });
  }
  std::shared_ptr<const Atom> read(AtomSetup setup) const {
    const std::vector<std::string_view> words = words_of(text);
    const AtomKind* kind = nullptr;
    for (const AtomKind& k : kKinds)
      if (std::find(words.begin(), words.end(), k.name) != words.end()) kind = &k;
    if (!kind) refuse("is none");
    constexpr int64_t kMissing = -1;
    setup.numbers.assign(kind->options.size(), kMissing);
    for (size_t w = 0; w < words.size();) {
      const std::string_view name = words[w++];
      if (name == "at" && kind->takes_positions) {
        while (w < words.size() && std::isdigit(static_cast<unsigned char>(words[w][0])) != 0)
          setup.at.push_back(number(words[w++], 0));
        if (setup.at.empty()) refuse("lacks its positions");
        continue;
      }
      size_t option = 0;
      while (option < kind->options.size() && kind->options[option].name != name) ++option;
      if (option == kind->options.size() || setup.numbers[option] != kMissing) refuse("says too much");
      const AtomOption& o = kind->options[option];
      if (w < words.size() && std::isdigit(static_cast<unsigned char>(words[w][0])) != 0) {
        if (kind->options.size() == 1 && o.otherwise > 0) refuse("takes no number");
        setup.numbers[option] = number(words[w++], o.least);
      } else if (option > 0 || (w < words.size() && words[w] != "at" && !is_option(*kind, words[w]))) {
        refuse(option > 0 ? fmt::format("lacks the number of its \"{}\"", o.name)
                          : fmt::format("wants a number from {} to {}, not \"{}\"", o.least, kMost, words[w]));
      }
    }
    if (!setup.at.empty() && setup.numbers[0] != kMissing) refuse("has both a number and positions");
    for (size_t i = 0; i < setup.numbers.size(); ++i) {
      if (setup.numbers[i] != kMissing) continue;
      const AtomOption& o = kind->options[i];
      if (o.otherwise < o.least && setup.at.empty())
        refuse(i == 0 ? "lacks its number" : fmt::format("lacks its \"{}\"", o.name));
      setup.numbers[i] = o.otherwise;
    }
    if (std::string_view(kind->name) == "columns" && setup.numbers[1] > setup.numbers[0])
      refuse("has more summary columns than there are");
    std::shared_ptr<const Atom> atom = kind->make(setup);
    if (setup.causal && atom->by_edges()) refuse("is for encoders: a decoder's rows have none");
    return atom;
  }
};

}  // namespace

std::span<const AtomKind> atom_kinds() { return kKinds; }

Pattern parse_pattern(const std::string& atoms, const AtomSetup& setup, const std::string& key) {
  Pattern pattern{{}, setup.causal};
  std::string parts = atoms;
  std::replace(parts.begin(), parts.end(), '+', ',');  // where a comma would end a list on a command line
  for (const std::string& part : split(parts, ',')) {
    AtomSetup own = setup;
    own.seed = mix(setup.seed, pattern.atoms.size());  // two that draw blocks draw others
    pattern.atoms.push_back(AtomText{key, std::string(trim(part))}.read(own));
  }
  return pattern;
}

}  // namespace attune
