// SPDX-License-Identifier: Apache-2.0
// Parts of tensors along the middle one of three axes: NPU_JIT_PARTS 0 joins tensors, 1 takes a
// part of one, 2 puts numbers before and behind one. NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C: one
// type, any; TensorParams. All are rows of bytes through UB, from one distance to another: a list
// of areas, in tiles that cores take in turn.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/stages.hpp"
#include "kernels/device/vector/types.hpp"
#include "npu/operators/tensor_params.hpp"

#ifndef NPU_JIT_PARTS
#define NPU_JIT_PARTS 3
#endif

namespace npu::kernels {
namespace {

using vector::kTypeA;

static_assert(NPU_JIT_PARTS >= 0 && NPU_JIT_PARTS < 3, "NPU_JIT_PARTS must be 0, 1 or 2");
static_assert(kTypeA == vector::kTypeC,
              "what is moved keeps its type: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C");

constexpr std::uint64_t kSize = platform::bytes_of(kTypeA);
constexpr std::uint32_t kMostRows = 2048;  // of a copy
constexpr std::uint32_t kLine = 512;       // bytes that are read and written in one piece
constexpr std::uint32_t kFilled = 16 * 1024;

// `blocks` times `rows` rows of `bytes`, distances in bytes. Without a source it is filled.
struct Area {
  std::uint64_t from = 0, to = 0;
  std::uint64_t blocks = 1, rows = 0, bytes = 0;
  std::uint64_t from_row = 0, to_row = 0, from_block = 0, to_block = 0;
  std::uint32_t tile_rows = 1, tile_bytes = 0;

  std::uint64_t across() const { return aicore::divide_up<std::uint64_t>(bytes, tile_bytes); }
  std::uint64_t down() const { return aicore::divide_up<std::uint64_t>(rows, tile_rows); }
  std::uint64_t tiles() const { return bytes == 0 ? 0 : blocks * down() * across(); }
};

struct Work {
  // Of the generated kernels of the library, which have their sizes as arguments.
  static constexpr platform::SetUp kSetUp{platform::Tiling::kArguments, false, false};
  std::uint32_t areas = 0;
  float value = 0;
  Area area[kTensorInputs];
};

class Tiles {
 public:
  Tiles(AicorePort& port, const Work& work) : port_(port), work_(work), sets_(port) {
    const auto ub = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb)) - kFilled;
    set_bytes_ = ub / kSets / aicore::kLocalAlignment * aicore::kLocalAlignment;
    if (NPU_JIT_PARTS != 2) return;
    Vector v = row_vector(VectorOp::kDuplicate, kTypeA, kSets * set_bytes_, 0, 1,
                          kFilled / static_cast<std::uint32_t>(kSize));
    v.scalar = work.value;
    port.issue(v);
    const Flag<Pipe::kVector, Pipe::kMte3> ready(port, kSets);
    ready.set();
    ready.wait();
  }

  void run() {
    std::uint64_t before = 0;
    const auto& call = port_.call();
    for (std::uint32_t k = 0; k < work_.areas; ++k) {
      const Area& area = work_.area[k];
      const std::uint64_t tiles = area.tiles();
      std::uint64_t i = before % call.blocks;
      i = call.block >= i ? call.block - i : call.block + call.blocks - i;
      for (; i < tiles; i += call.blocks) tile(area, i);
      before += tiles;
    }
  }

 private:
  void tile(const Area& area, std::uint64_t index) {
    const std::uint64_t column = index % area.across() * area.tile_bytes;
    const std::uint64_t row = index / area.across() % area.down() * area.tile_rows;
    const std::uint64_t block = index / area.across() / area.down();
    const auto rows =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(area.tile_rows, area.rows - row));
    const auto bytes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(area.tile_bytes, area.bytes - column));
    const std::uint64_t to = area.to + block * area.to_block + row * area.to_row + column;
    if (area.from == 0) return store(to, kSets * set_bytes_, area, rows, bytes);
    const unsigned i = sets_.begin();
    platform::CopyIn copy;
    copy.to = {LocalBuffer::kUb, i * set_bytes_};
    copy.from = area.from + block * area.from_block + row * area.from_row + column;
    copy.rows = rows;
    copy.row_bytes = bytes;
    copy.from_pitch = rows == 1 ? 0 : area.from_row;
    copy.to_pitch = pitch_of(bytes);
    port_.issue(copy);
    sets_.loaded(i);
    store(to, i * set_bytes_, area, rows, bytes);
    sets_.stored(i);
  }
  static std::uint32_t pitch_of(std::uint32_t bytes) {
    return aicore::round_up(bytes, aicore::kLocalAlignment);
  }
  void store(std::uint64_t to, std::uint32_t from, const Area& area, std::uint32_t rows,
             std::uint32_t bytes) const {
    platform::CopyOut copy;
    copy.to = to;
    copy.from = {LocalBuffer::kUb, from};
    copy.rows = rows;
    copy.row_bytes = bytes;
    copy.to_pitch = rows == 1 ? 0 : area.to_row;
    copy.from_pitch = pitch_of(bytes);
    port_.issue(copy);
  }

  AicorePort& port_;
  const Work work_;
  Passing sets_;
  std::uint32_t set_bytes_ = 0;
};

int kernel(AicorePort& port) {
  Tiles(port, work_from<Work>(aicore::Arguments(port, kWorkWords<Work>))).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

// Rows that follow one another on both sides are one; tiles as large as fit, and no larger than
// keep all cores busy.
void add(Work& work, Area area, std::uint64_t ub, std::uint32_t cores) {
  const bool filled = area.from == 0;
  if (area.rows != 1 && area.to_row == area.bytes && (filled || area.from_row == area.bytes)) {
    area.bytes *= area.rows;
    area.rows = 1;
  }
  if (area.blocks == 0 || area.rows == 0 || area.bytes == 0) return;
  const std::uint64_t space =
      (filled ? std::uint64_t{kFilled} : (ub - kFilled) / kSets) / kLine * kLine;
  const std::uint64_t share = std::max<std::uint64_t>(
      aicore::divide_up<std::uint64_t>(area.blocks * area.rows * area.bytes, cores), kLine);
  const std::uint64_t most = std::min(space, aicore::round_up<std::uint64_t>(share, kLine));
  area.tile_bytes = static_cast<std::uint32_t>(std::min(area.bytes, most));
  const std::uint64_t pitch =
      aicore::round_up<std::uint64_t>(area.tile_bytes, aicore::kLocalAlignment);
  const std::uint64_t fit = std::min<std::uint64_t>(space / pitch, kMostRows);
  const std::uint64_t shared = aicore::divide_up<std::uint64_t>(share, area.tile_bytes);
  area.tile_rows =
      static_cast<std::uint32_t>(std::min({area.rows, fit, std::max<std::uint64_t>(shared, 1)}));
  work.area[work.areas++] = area;
}

template <class Add>
void join(const TensorParams& params, Add put) {
  const std::uint64_t outer = params.sides[0], inner = params.sides[1] * kSize;
  std::uint64_t axis = 0, before = 0;
  for (std::uint32_t i = 2; i < params.given; ++i) axis += params.sides[i];
  for (std::uint32_t i = 2; i < params.given; ++i) {
    Area area;
    area.from = params.inputs[i - 2];
    area.to = params.results[0] + before * inner;
    area.rows = outer;
    area.bytes = area.from_row = params.sides[i] * inner;
    area.to_row = axis * inner;
    put(area);
    before += params.sides[i];
  }
}
template <class Add>
void slice(const TensorParams& params, Add put) {
  const std::uint64_t outer = params.sides[0], axis = params.sides[1],
                      inner = params.sides[2] * kSize, count = params.sides[4];
  const std::uint64_t step = params.sides[5];
  Area area;
  area.from = params.inputs[0] + params.sides[3] * inner;
  area.to = params.results[0];
  if (step == 1) {
    area.rows = outer;
    area.bytes = area.to_row = count * inner;
    area.from_row = axis * inner;
  } else {
    area.blocks = outer;
    area.rows = count;
    area.bytes = area.to_row = inner;
    area.from_row = step * inner;
    area.from_block = axis * inner, area.to_block = count * inner;
  }
  put(area);
}
template <class Add>
void pad(const TensorParams& params, Add put) {
  const std::uint64_t inner = params.sides[2] * kSize;
  const std::uint64_t sides[] = {params.sides[3], params.sides[1], params.sides[4]};
  std::uint64_t before = 0;
  for (unsigned i = 0; i < 3; ++i) {
    Area area;
    area.from = i == 1 ? params.inputs[0] : 0;
    area.to = params.results[0] + before;
    area.rows = params.sides[0];
    area.bytes = area.from_row = sides[i] * inner;
    area.to_row = (sides[0] + sides[1] + sides[2]) * inner;
    put(area);
    before += area.bytes;
  }
}

// Elements of all the axes together.
bool possible(const TensorParams& params) {
  std::uint64_t axis = 1;
  for (std::uint32_t i = 0; i < params.given; ++i) {
    if (params.sides[i] > kMostSide) return false;
    axis += params.sides[i];
  }
  const std::uint64_t outer = std::max<std::uint64_t>(params.sides[0], 1);
  const std::uint64_t inner = std::max<std::uint64_t>(params.sides[NPU_JIT_PARTS == 0 ? 1 : 2], 1);
  return axis <= aicore::kMostElements / outer / inner;
}

void host(std::uint32_t block_num, OperatorStream& stream, const TensorParams& params) {
  if (!possible(params)) return stream.refuse("sides must be below 2^31, elements below 2^44");
  if constexpr (NPU_JIT_PARTS == 1) {
    const std::uint64_t begin = params.sides[3], count = params.sides[4], step = params.sides[5];
    if (count != 0 && (step == 0 || begin + (count - 1) * step >= params.sides[1])) {
      return stream.refuse("a part lies within the axis, and its step is not 0");
    }
  }
  bool good = aligned(params.results[0], kTypeA);
  for (const std::uint64_t input : params.inputs) good = good && aligned(input, kTypeA);
  if (!good) return stream.refuse("addresses must be multiples of the elements' sizes");
  const std::uint64_t ub = stream.limits().ub;
  if (ub < 64 * 1024) return stream.refuse("UB is smaller than 64 KiB");
  Launches launches(stream, CoreKind::kVector, block_num);
  Work work;
  work.value = params.value;
  const auto put = [&](const Area& area) { add(work, area, ub, launches.own_cores()); };
  if constexpr (NPU_JIT_PARTS == 0) {
    join(params, put);
  } else if constexpr (NPU_JIT_PARTS == 1) {
    slice(params, put);
  } else {
    pad(params, put);
  }
  std::uint64_t tiles = 0;
  for (std::uint32_t k = 0; k < work.areas; ++k) tiles += work.area[k].tiles();
  launches.launch(CoreKind::kVector, 0U, work, tiles);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TensorParams)
