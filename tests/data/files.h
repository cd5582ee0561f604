// Small files for the tests of data/.
#pragma once
#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <string>

#include "base/error.h"
#include "run_program.h"

namespace attune::test {

inline std::string put(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

/// What `gzip` makes of a text.
inline std::string gzipped(const std::string& text) {
  z_stream z{};
  if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string out(deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

/// The message of what `f` throws, with its kind before it: "data: ...".
template <class F>
std::string error_with_kind(F f) {
  try {
    f();
  } catch (const Error& e) { return std::string(name_of(e.kind())) + ": " + e.what(); }
  return "nothing was thrown";
}

}  // namespace attune::test
