// Bytes: 256 pieces, nothing is unknown, nothing is learned.
#include "text/segmenter.h"

namespace attune::text {

namespace {

class Bytes : public Segmenter {
 public:
  void segment(std::string_view line, std::vector<Token>& out) const override {
    out.reserve(out.size() + line.size());
    for (uint32_t at = 0; at < line.size(); ++at) out.push_back({Vocabulary::byte_id(line[at]), at, at + 1});
  }
  void write(int32_t, bool, std::string& text) const override { text += kUnknownText; }  // only kUnknown gets here
};

}  // namespace

std::unique_ptr<const Segmenter> make_bytes() { return std::make_unique<Bytes>(); }

}  // namespace attune::text
