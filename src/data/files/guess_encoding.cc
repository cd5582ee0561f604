#include "data/files/guess_encoding.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "base/error.h"
#include "data/files/code_pages.h"
#include "data/files/data_files.h"
#include "data/files/line_reader.h"
#include "data/files/text_file.h"
#include "text/lower_case.h"
#include "text/utf8.h"

namespace attune {

namespace {

constexpr size_t kEnough = 1 << 16;  // bytes of lines with letters beyond ASCII

constexpr int64_t kSomeLetters = 10;

bool is_beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

/// A language by its letters beyond ASCII, the frequent ones first, and how people write it.
struct WrittenLanguage {
  const char *ending, *name;
  std::u32string_view letters;
  std::initializer_list<Encoding> encodings;
};
constexpr auto kWest = {Encoding::windows_1252};
constexpr auto kCentral = {Encoding::windows_1250, Encoding::iso_8859_2};
constexpr auto kCyrillic = {Encoding::windows_1251, Encoding::koi8_r};
constexpr auto kOnly1251 = {Encoding::windows_1251};
constexpr auto kGreek = {Encoding::windows_1253};
constexpr auto kTurkish = {Encoding::windows_1254};
// In the order of preference, where several explain the bytes as well.
const WrittenLanguage kLanguages[] = {
    {"fr", "French", U"éèàêçôîûùâœëï", kWest},
    {"de", "German", U"üäöß", kWest},
    {"es", "Spanish", U"óáíéñúü¿¡", kWest},
    {"pt", "Portuguese", U"ãáéçíóõêúâôà", kWest},
    {"it", "Italian", U"àèùòìé", kWest},
    {"sv", "Swedish", U"äåöé", kWest},
    {"da", "Danish", U"åøæé", kWest},
    {"no", "Norwegian", U"åøæé", kWest},
    {"fi", "Finnish", U"äöå", kWest},
    {"nl", "Dutch", U"ëéïèü", kWest},
    {"is", "Icelandic", U"ðíáþöóúéæý", kWest},
    {"cs", "Czech", U"íáěéřýšžčůúňťóď", kCentral},
    {"pl", "Polish", U"ąłęóśżćńź", kCentral},
    {"sk", "Slovak", U"áíéýčžšťúľóôňäď", kCentral},
    {"hu", "Hungarian", U"áéóöőíúüű", kCentral},
    {"ro", "Romanian", U"ăţîşâ", kCentral},
    {"hr", "Croatian", U"čšžćđ", kCentral},
    {"sl", "Slovene", U"čšž", kCentral},
    {"ru", "Russian", U"оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё", kCyrillic},
    {"uk", "Ukrainian", U"оаиніевтрслкудмпяьзгбчїхйжшющєцфґ", kOnly1251},
    {"bg", "Bulgarian", U"аоеинтрсвлдкпмзябгъучщжхцшйюф", kOnly1251},
    {"el", "Greek", U"αοιετνσρυπκμλςίάόήγέδώηχωθφύβξζψ", kGreek},
    {"tr", "Turkish", U"ıüşçöğ", kTurkish},
};

bool is_sign(char32_t c) {
  constexpr std::u32string_view kSigns = U"“”„‚‘’–—…«»€£§°©®·×½\u00a0№";
  return kSigns.find(c) != std::u32string_view::npos;
}

/// The logarithm of how probable a letter is, of those beyond ASCII.
double log_share(const WrittenLanguage& language, char32_t c) {
  const char32_t small = text::lower(c);
  if (const size_t rank = language.letters.find(small); rank != std::u32string_view::npos)
    return std::log(0.2 / static_cast<double>(rank + 1)) + (small == c ? 0 : std::log(0.05));
  return std::log(is_sign(c) ? 2e-2 : c < 0xa0 ? 1e-7 : 1e-4);
}

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The mean of that over the letters, -infinity where a byte is none.
double fit(std::string_view bytes, const WrittenLanguage& language, Encoding encoding) {
  double sum = 0, count = 0;
  const bool latin = language.letters[0] < 0x300;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (byte < 0x80) continue;
    const char32_t c = letter_of(encoding, byte);
    if (c == 0) return -std::numeric_limits<double>::infinity();
    // No word has both Greek or Cyrillic letters and Latin ones.
    const bool mixed =
        (i > 0 && is_ascii_letter(bytes[i - 1])) || (i + 1 < bytes.size() && is_ascii_letter(bytes[i + 1]));
    sum += mixed && !latin ? std::log(1e-4) : log_share(language, c);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

/// Letters of two bytes: how many there are, and of them Japanese syllables, common Korean ones, those with a half that
/// is ASCII, those that can't be, and those that no other stands before.
struct PairCounts {
  int64_t pairs = 0, kana = 0, hangul = 0, ascii = 0, wrong = 0, runs = 0;
};
PairCounts count_pairs(std::string_view bytes, bool shift_jis) {
  PairCounts n;
  for (size_t i = 0, end = bytes.size() + 1; i < bytes.size(); ++i) {  // end: of the last pair
    const auto a = static_cast<unsigned char>(bytes[i]);
    if (a < 0x80 || (shift_jis && a >= 0xa1 && a <= 0xdf)) continue;
    n.runs += i != end;
    const auto b = static_cast<unsigned char>(i + 1 < bytes.size() ? bytes[++i] : 0);
    end = i + 1;
    ++n.pairs;
    n.wrong += a == 0x80 || a == 0xff || b < 0x40 || b == 0x7f || b == 0xff;
    n.ascii += b < 0x80;
    n.kana += shift_jis ? a == 0x82 && b >= 0x9f && b <= 0xf1 : a == 0xa4 && b >= 0xa1 && b <= 0xf3;
    n.hangul += a >= 0xb0 && a <= 0xc8 && b >= 0xa1;
  }
  return n;
}

/// Chinese, Japanese and Korean, which have two bytes a letter; "" for others.
EncodingGuess guess_of_pairs(std::string_view bytes) {
  const PairCounts plain = count_pairs(bytes, false), shifted = count_pairs(bytes, true);
  const auto found = [](const char* name, const char* language) {
    return EncodingGuess{.name = name, .known = false, .language = language};
  };
  const auto fits = [](const PairCounts& n) {
    return n.pairs >= 8 && 100 * n.wrong <= n.pairs && 2 * n.runs <= n.pairs;
  };
  if (fits(shifted) && 5 * shifted.kana > shifted.pairs) return found("shift_jis", "Japanese");
  // In the west of Europe, a letter beyond ASCII stands between others.
  if (!fits(plain) || 2 * plain.ascii > plain.pairs) return found("", "");
  if (5 * plain.kana > plain.pairs) return found("euc-jp", "Japanese");
  if (100 * plain.hangul > 90 * plain.pairs) return found("euc-kr", "Korean");
  if (5 * plain.ascii > plain.pairs) return found("big5", "Chinese");
  return found("gb18030", "Chinese");
}

bool looks_like_utf_16(std::string_view head) {
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) return true;
  int64_t zeros[2] = {0, 0};
  for (size_t i = 0; i < head.size(); ++i) zeros[i % 2] += head[i] == 0;
  const auto half = static_cast<int64_t>(head.size() / 2);
  return half >= 4 && std::max(zeros[0], zeros[1]) * 3 > half && std::min(zeros[0], zeros[1]) * 20 < half;
}

}  // namespace

std::string EncodingGuess::conversion(const std::string& file) const {
  return fmt::format("iconv -f {} -t utf-8 {} > {}.utf-8", name.empty() ? "ENCODING" : name, file, file);
}

EncodingGuess guess_of_lines(std::string_view lines, std::string_view ending) {
  if (const EncodingGuess two_bytes = guess_of_pairs(lines); !two_bytes.name.empty()) return two_bytes;
  EncodingGuess best{.name = "", .known = false};
  double most = std::log(4e-3);  // below this the letters make no sense
  for (const WrittenLanguage& l : kLanguages)
    for (const Encoding e : l.encodings) {
      const double score = fit(lines, l, e) + (ending == l.ending ? 0.5 : 0);
      if (score <= most) continue;
      most = score;
      best = {.name = name_of(e), .language = l.name};
    }
  const auto letters = std::count_if(lines.begin(), lines.end(), is_beyond_ascii);
  if (letters < kSomeLetters) best.language.clear();  // that fit, but may be of another
  return best;
}

bool is_utf_16(const std::string& file) {
  std::string head(4096, '\0');
  head.resize(TextFile(file, true).read(head.data(), head.size()));
  return looks_like_utf_16(head);
}

EncodingGuess guess_encoding(const std::string& file) {
  if (is_utf_16(file)) return {.name = "utf-16"};
  std::string broken;
  size_t right = 0;
  LineReader reader(file);
  for (std::string_view line; broken.size() + right < kEnough && reader.next(line);) {
    if (std::none_of(line.begin(), line.end(), is_beyond_ascii)) continue;
    if (text::is_utf8(line))
      right += line.size();
    else
      broken.append(line).append("\n");
  }
  if (broken.find('\0') != std::string::npos) return {.name = "", .known = false, .binary = true};
  if (broken.empty() || broken.size() < right) return {.plain = broken.empty() && right == 0};
  return guess_of_lines(broken, language_of(file));
}

}  // namespace attune
