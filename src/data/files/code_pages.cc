#include "data/files/code_pages.h"

#include <algorithm>

#include "base/error.h"

namespace attune {

namespace {

// Of each encoding the letters of the bytes from 0x80, or from 0xa0 where those below are control characters; \0: none.
constexpr char16_t k1252[] =
    u"€\0‚ƒ„…†‡ˆ‰Š‹Œ\0Ž\0\0‘’“”•–—˜™š›œ\0žŸ"
    u"\u00a0¡¢£¤¥¦§¨©ª«¬\u00ad®¯°±²³´µ¶·¸¹º»¼½¾¿"
    u"ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞß"
    u"àáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ";
constexpr char16_t k1250[] =
    u"€\0‚\0„…†‡\0‰Š‹ŚŤŽŹ\0‘’“”•–—\0™š›śťžź"
    u"\u00a0ˇ˘Ł¤Ą¦§¨©Ş«¬\u00ad®Ż°±˛ł´µ¶·¸ąş»Ľ˝ľż"
    u"ŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢß"
    u"ŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙";
constexpr char16_t k1251[] =
    u"ЂЃ‚ѓ„…†‡€‰Љ‹ЊЌЋЏђ‘’“”•–—\0™љ›њќћџ"
    u"\u00a0ЎўЈ¤Ґ¦§Ё©Є«¬\u00ad®Ї°±Ііґµ¶·ё№є»јЅѕї"
    u"АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ"
    u"абвгдежзийклмнопрстуфхцчшщъыьэюя";
constexpr char16_t k1253[] =
    u"€\0‚ƒ„…†‡\0‰\0‹\0\0\0\0\0‘’“”•–—\0™\0›\0\0\0\0"
    u"\u00a0΅Ά£¤¥¦§¨©\0«¬\u00ad®―°±²³΄µ¶·ΈΉΊ»Ό½ΎΏ"
    u"ΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ\0ΣΤΥΦΧΨΩΪΫάέήί"
    u"ΰαβγδεζηθικλμνξοπρςστυφχψωϊϋόύώ\0";
constexpr char16_t k1254[] =
    u"€\0‚ƒ„…†‡ˆ‰Š‹Œ\0\0\0\0‘’“”•–—˜™š›œ\0\0Ÿ"
    u"\u00a0¡¢£¤¥¦§¨©ª«¬\u00ad®¯°±²³´µ¶·¸¹º»¼½¾¿"
    u"ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞß"
    u"àáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ";
constexpr char16_t kKoi8r[] =
    u"─│┌┐└┘├┤┬┴┼▀▄█▌▐░▒▓⌠■∙√≈≤≥\u00a0⌡°²·÷"
    u"═║╒ё╓╔╕╖╗╘╙╚╛╜╝╞╟╠╡Ё╢╣╤╥╦╧╨╩╪╫╬©"
    u"юабцдефгхийклмнопярстужвьызшэщчъ"
    u"ЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ";
constexpr char16_t k8859_2[] =
    u"\u00a0Ą˘Ł¤ĽŚ§¨ŠŞŤŹ\u00adŽŻ°ą˛ł´ľśˇ¸šşťź˝žż"
    u"ŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢß"
    u"ŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙";

struct NamedEncoding {
  const char* name;
  Encoding encoding;
  const char16_t* letters;  // none: each byte is its own letter, or it is no such encoding
  int first;                // byte of the letters
};
constexpr NamedEncoding kEncodings[] = {
    {"utf-8", Encoding::utf_8, nullptr, 0},
    {"iso-8859-1", Encoding::iso_8859_1, nullptr, 0},
    {"latin-1", Encoding::iso_8859_1, nullptr, 0},
    {"windows-1252", Encoding::windows_1252, k1252, 0x80},
    {"windows-1250", Encoding::windows_1250, k1250, 0x80},
    {"iso-8859-2", Encoding::iso_8859_2, k8859_2, 0xa0},
    {"windows-1251", Encoding::windows_1251, k1251, 0x80},
    {"koi8-r", Encoding::koi8_r, kKoi8r, 0x80},
    {"windows-1253", Encoding::windows_1253, k1253, 0x80},
    {"windows-1254", Encoding::windows_1254, k1254, 0x80},
    {"utf-16", Encoding::utf_16, nullptr, 0},
};

const NamedEncoding& entry_of(Encoding encoding) {
  return *std::find_if(std::begin(kEncodings), std::end(kEncodings),
                       [&](const NamedEncoding& e) { return e.encoding == encoding; });
}

}  // namespace

Encoding encoding_of(std::string_view name) {
  for (const NamedEncoding& e : kEncodings)
    if (name == e.name) return e.encoding;
  fail(ErrorKind::recipe, "data.encoding = \"{}\" is not known\n  fix: convert the files to UTF-8 by iconv", name);
}

const char* name_of(Encoding encoding) { return entry_of(encoding).name; }

char32_t letter_of(Encoding encoding, unsigned char byte) {
  if (byte < 0x80) return byte;
  const NamedEncoding& e = entry_of(encoding);
  return e.letters && byte >= e.first ? e.letters[byte - e.first] : byte;
}

}  // namespace attune
