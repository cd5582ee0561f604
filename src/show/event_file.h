// A run as TensorBoard reads it: scalars, text and pictures in an event file, events.out.tfevents.*. The format is one
// of records (length, checksum, bytes, checksum) that hold Event messages of TensorFlow's protocol buffers; the few
// fields that are needed are written by hand.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/files.h"

namespace attune::show {

class EventFile {
 public:
  /// Goes on with the event file of `dir`, or begins one. What it has of steps after `resumed_at` is dropped, for they
  /// come again, and so is a record that a stop cut short.
  EventFile(const std::string& dir, int64_t resumed_at);

  void scalar(const std::string& name, int64_t step, double value);
  /// Markdown, as TensorBoard shows texts.
  void text(const std::string& name, int64_t step, const std::string& text);
  void image(const std::string& name, int64_t step, const std::string& png);

 private:
  void add(int64_t step, const std::string& value);
  std::unique_ptr<AppendedFile> file_;
};

/// The first event file of a folder; "" when there is none.
std::string event_file_in(const std::string& dir);

/// The checksum of records: CRC-32C, turned and shifted so that checksums of checksums are none.
uint32_t masked_crc(std::string_view bytes);

}  // namespace attune::show
