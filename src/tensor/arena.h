// The owner of all activation memory. It hands out blocks and takes them back; nothing in a training step touches
// malloc.
//
// Three ways of working:
//   growing     (the default) chunks that are kept. A request goes to the oldest chunk that has room: a second
//               identical step finds every block where the first one did and maps nothing.
//   rehearsing  no memory at all: blocks are addresses nobody may touch, sizes and lifetimes are written down. Kernels
//               are skipped (Ctx::run), so a rehearsal of the largest batch takes microseconds and gives a Plan.
//   planned     the i-th request of a step gets the offset the Plan gave it; the peak was known before the first step.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace attune {

/// Where each request of a step goes, and how much memory that takes in all.
struct Plan {
  std::vector<int64_t> offset, size;
  int64_t peak = 0;
};

class Arena {
 public:
  static constexpr int64_t kAlign = 64;
  using Block = int32_t;
  static constexpr Block kNone = -1;

  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// A block of at least `bytes`, aligned to 64. Its address is block_data(block).
  Block allocate(int64_t bytes);
  void release(Block block);
  void* block_data(Block block) const { return live_[static_cast<size_t>(block)].address; }

  /// Forgets all requests of the step before; every block must have been released. Call it between steps.
  void begin_step();

  void start_rehearsal();
  /// Ends the rehearsal: all blocks must be released. The plan packs what lived at the same time side by side.
  Plan finish_rehearsal();
  bool rehearsing() const { return mode_ == Mode::rehearsing; }
  /// From the next step on, serve requests by the plan. Throws ErrorKind::memory when the memory can't be had.
  void adopt(Plan plan);

  /// Bytes held from the system, and the most that was in use at one time since the start.
  int64_t reserved() const { return reserved_; }
  int64_t peak() const { return peak_; }
  int64_t in_use() const { return in_use_; }
  /// Requests that did not fit the plan, or whose place was still taken, and were served by growing; 0 when the
  /// rehearsal covered the step.
  int64_t overflows() const { return overflows_; }

 private:
  enum class Mode { growing, rehearsing, planned };
  struct Live {
    char* address = nullptr;
    int64_t bytes = 0;
    int32_t request = -1;  // index in the plan or the rehearsal; -1: from the free list
    int32_t chunk = -1;    // where it came from, when from the free list
  };
  struct Free {
    int32_t chunk;
    char* address;
    int64_t bytes;
  };
  struct Chunk {
    char* address;
    int64_t bytes;
  };
  struct Lifetime {
    int64_t bytes;
    int32_t from, to;
  };

  Block new_live(const Live& live);
  bool is_taken(const char* from, int64_t bytes) const;
  Live take_free(int64_t bytes);
  void give_free(const Free& piece);
  char* map(int64_t bytes);
  static Plan pack(const std::vector<Lifetime>& lifetimes);

  Mode mode_ = Mode::growing;
  std::vector<Live> live_;
  std::vector<Block> unused_;  // entries of live_ that are free
  std::vector<Free> free_;     // sorted by chunk, then address; neighbours in a chunk are joined
  std::vector<Chunk> chunks_;
  Plan plan_;
  char* planned_base_ = nullptr;
  std::vector<Lifetime> lifetimes_;
  int32_t request_ = 0, clock_ = 0;
  int64_t reserved_ = 0, peak_ = 0, in_use_ = 0, overflows_ = 0, blocks_out_ = 0;
};

}  // namespace attune
