#include "text/halves.h"

#include <limits>

#include "text/utf8.h"

namespace attune::text {

namespace {

/// The last of the merges that make a piece of its characters; none where they do not make it.
Halves last_merge(const Vocabulary& vocabulary, std::string_view piece) {
  std::vector<size_t> starts = character_starts(piece);  // of what is merged so far, and the end
  if (starts.back() != piece.size()) starts.push_back(piece.size());
  const auto run = [&](size_t from, size_t to) {
    const int32_t id = vocabulary.id(piece.substr(starts[from], starts[to] - starts[from]));
    return id < vocabulary.first() ? -1 : id;
  };
  while (starts.size() > 3) {
    size_t best = 0;
    int32_t first = std::numeric_limits<int32_t>::max();  // pieces are in the order they merge
    for (size_t i = 1; i + 1 < starts.size(); ++i)
      if (const int32_t id = run(i - 1, i + 1); id >= 0 && id < first) {
        first = id;
        best = i;
      }
    if (best == 0) return {};
    starts.erase(starts.begin() + static_cast<ptrdiff_t>(best));
  }
  if (starts.size() < 3) return {};
  const Halves h{run(0, 1), run(1, 2)};
  return h.left >= 0 && h.right >= 0 ? h : Halves{};
}

/// The best of all ways to cut a piece in two; `worth` says how good one is.
template <class Worth>
Halves best_cut(const Vocabulary& vocabulary, std::string_view piece, const std::string& before_right, Worth worth) {
  Halves best;
  double most = 0;
  const size_t mark = !before_right.empty() && piece.starts_with(before_right) ? before_right.size() : 0;
  for (const size_t cut : character_starts(piece)) {
    if (cut <= mark || cut == piece.size()) continue;
    const Halves h{vocabulary.id(piece.substr(0, cut)), vocabulary.id(before_right + std::string(piece.substr(cut)))};
    if (h.left < vocabulary.first() || h.right < vocabulary.first()) continue;
    if (const double w = worth(h, cut); !best.any() || w > most) {
      best = h;
      most = w;
    }
  }
  return best;
}

}  // namespace

std::vector<Halves> halves_of_pieces(const Vocabulary& vocabulary) {
  std::vector<Halves> all(static_cast<size_t>(vocabulary.size()));
  for (int32_t id = vocabulary.first(); id < vocabulary.size(); ++id) {
    const std::string_view piece = vocabulary.piece(id);
    Halves& h = all[static_cast<size_t>(id)];
    switch (vocabulary.kind()) {
      case TokenizerKind::bpe:
        h = last_merge(vocabulary, piece);
        break;
      case TokenizerKind::unigram:
        h = best_cut(vocabulary, piece, "", [&](const Halves& x, size_t) {
          return static_cast<double>(vocabulary.score(x.left)) + static_cast<double>(vocabulary.score(x.right));
        });
        break;
      case TokenizerKind::wordpiece:
        h = best_cut(vocabulary, piece, std::string(kInside),
                     [](const Halves&, size_t cut) { return static_cast<double>(cut); });
        break;
      case TokenizerKind::byte:
      case TokenizerKind::character:
      case TokenizerKind::word:
        break;
    }
  }
  return all;
}

}  // namespace attune::text
