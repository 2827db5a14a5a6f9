// SPDX-License-Identifier: Apache-2.0
// Axes in another order. NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C: one type, any; TransposeParams.
// Axes that stay neighbours are one. If the last axis stays, its rows are copied; else tiles of the
// two last axes, of the input and of the result, are transposed by the vector unit.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/stages.hpp"
#include "kernels/device/vector/types.hpp"

namespace npu::kernels {
namespace {

using vector::kTypeA;

static_assert(kTypeA == vector::kTypeC,
              "what is transposed keeps its type: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C");

constexpr auto kSize = static_cast<std::uint32_t>(platform::bytes_of(kTypeA));
constexpr std::uint32_t kBlock = aicore::kLocalAlignment / kSize;  // elements

struct Axis {
  std::uint64_t size = 1;
  std::uint64_t in = 0, out = 0;  // elements from one to the next
};

// Rows lie along the result's last axis, columns along the input's.
struct Work {
  // Of the generated kernels of the library, which have their sizes as arguments.
  static constexpr platform::SetUp kSetUp{platform::Tiling::kArguments, false, false};
  std::uint64_t from = 0, to = 0;
  Axis rows, columns;
  std::uint32_t tile_rows = 0, tile_columns = 0;
  std::uint32_t turned = 0;
  std::uint32_t axes = 0;  // others
  Axis others[kMostAxes];

  std::uint64_t rows_of_tiles() const {
    return aicore::divide_up<std::uint64_t>(rows.size, tile_rows);
  }
  std::uint64_t columns_of_tiles() const {
    return aicore::divide_up<std::uint64_t>(columns.size, tile_columns);
  }
  std::uint64_t outer() const {
    std::uint64_t all = 1;
    for (std::uint32_t i = 0; i < axes; ++i) all *= others[i].size;
    return all;
  }
};

constexpr std::uint32_t row_bytes(std::uint32_t elements) {
  return aicore::row_bytes(elements, kTypeA);
}

class Tiles {
 public:
  Tiles(AicorePort& port, const Work& work) : port_(port), work_(work) {
    const auto ub = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb));
    space_ = ub / (2 * kSets) / aicore::kLocalAlignment * aicore::kLocalAlignment;
  }

  void run() {
    const std::uint64_t across = work_.columns_of_tiles(), down = work_.rows_of_tiles();
    const std::uint64_t tiles = across * down * work_.outer();
    for (std::uint64_t i = port_.call().block; i < tiles; i += port_.call().blocks) {
      place(i / across / down);
      const std::uint64_t row = i / across % down * work_.tile_rows;
      const std::uint64_t column = i % across * work_.tile_columns;
      from_ = work_.from + (in_ + row * work_.rows.in + column * work_.columns.in) * kSize;
      to_ = work_.to + (out_ + row * work_.rows.out + column * work_.columns.out) * kSize;
      rows_ = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(work_.tile_rows, work_.rows.size - row));
      columns_ = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(work_.tile_columns, work_.columns.size - column));
      work_.turned != 0 ? turn() : copy();
    }
  }

 private:
  // Where the other axes begin.
  void place(std::uint64_t index) {
    in_ = out_ = 0;
    for (std::uint32_t i = work_.axes; i-- > 0;) {
      const Axis& axis = work_.others[i];
      in_ += index % axis.size * axis.in;
      out_ += index % axis.size * axis.out;
      index /= axis.size;
    }
  }

  std::uint32_t in(unsigned i) const { return i * space_; }
  std::uint32_t out(unsigned i) const { return (kSets + i) * space_; }

  void load(std::uint32_t to) const {
    platform::CopyIn copy;
    copy.to = {LocalBuffer::kUb, to};
    copy.from = from_;
    copy.rows = rows_;
    copy.row_bytes = columns_ * kSize;
    copy.from_pitch = rows_ == 1 ? 0 : work_.rows.in * kSize;
    copy.to_pitch = row_bytes(columns_);
    port_.issue(copy);
  }
  // `rows` of `length` elements, `step` apart in the result.
  void store(std::uint32_t from, std::uint32_t rows, std::uint32_t length,
             std::uint64_t step) const {
    platform::CopyOut copy;
    copy.to = to_;
    copy.from = {LocalBuffer::kUb, from};
    copy.rows = rows;
    copy.row_bytes = length * kSize;
    copy.to_pitch = rows == 1 ? 0 : step * kSize;
    copy.from_pitch = row_bytes(length);
    port_.issue(copy);
  }

  void turn() {
    const unsigned i = stages_.begin_load();
    load(in(i));
    stages_.loaded(i);
    const unsigned set = stages_.begin_result();
    Vector v;
    v.op = VectorOp::kTranspose;
    v.type = v.to_type = kTypeA;
    v.to = out(set);
    v.a = in(i);
    v.rows = rows_;
    v.count = columns_;
    v.a_pitch = row_bytes(columns_);
    v.to_pitch = row_bytes(rows_);
    port_.issue(v);
    stages_.consumed(i);
    stages_.computed(set);
    store(out(set), columns_, rows_, work_.columns.out);
    stages_.stored(set);
  }

  // From the loading pipe to the storing one; a set is free when it is stored.
  void copy() {
    const unsigned i = copies_.begin();
    load(in(i));
    copies_.loaded(i);
    store(in(i), rows_, columns_, work_.rows.out);
    copies_.stored(i);
  }

  AicorePort& port_;
  const Work work_;
  Stages stages_{port_};
  Passing copies_{port_};
  std::uint32_t space_ = 0;
  std::uint64_t in_ = 0, out_ = 0;   // of the other axes, elements
  std::uint64_t from_ = 0, to_ = 0;  // of a tile
  std::uint32_t rows_ = 0, columns_ = 0;
};

int kernel(AicorePort& port) {
  const auto work = work_from<Work>(aicore::Arguments(port, kWorkWords<Work>));
  Tiles(port, work).run();
  port.pipe_barrier(Pipe::kAll);
  return 0;
}

// Axes of the result without those of one element; neighbours in both tensors are one axis.
class Axes {
 public:
  explicit Axes(const TransposeParams& params) {
    std::uint64_t steps[kMostAxes] = {}, step = 1;
    for (std::uint32_t i = params.axes; i-- > 0;) {
      steps[i] = step;
      step *= params.sides[i];
    }
    step = 1;
    for (std::uint32_t i = params.axes; i-- > 0;) {
      const std::uint32_t from = params.order[i];
      if (params.sides[from] != 1) add({params.sides[from], steps[from], step});
      step *= params.sides[from];
    }
    if (count_ == 0) add({1, 1, 1});
  }

  // From the innermost axis.
  std::uint32_t count() const { return count_; }
  const Axis& at(std::uint32_t i) const { return all_[i]; }

  void put(Work& work) const {
    std::uint32_t rows = 0, columns = 0;
    while (all_[columns].in != 1) ++columns;
    work.turned = columns == 0 ? 0 : 1;
    work.columns = all_[columns];
    if (work.turned == 0) rows = std::min(count_ - 1, 1U);
    if (work.turned != 0 || rows != 0) work.rows = all_[rows];
    for (std::uint32_t i = count_; i-- > 0;) {
      if (i != columns && i != rows) work.others[work.axes++] = all_[i];
    }
  }

 private:
  void add(const Axis& axis) {
    if (count_ != 0 && axis.in == all_[count_ - 1].in * all_[count_ - 1].size) {
      all_[count_ - 1].size *= axis.size;
    } else {
      all_[count_++] = axis;
    }
  }
  Axis all_[kMostAxes];
  std::uint32_t count_ = 0;
};

// The tile whose rounds over all cores take the fewest clocks by the published costs
// (kernel-times.md K11, K15, K25); of those that take hardly more, the one whose shorter side is
// the longest, since it is what is read or written in one piece. Rows that are no whole blocks are
// kept whole if some fit.
class Tiling {
 public:
  Tiling(const Work& work, std::uint64_t ub, std::uint32_t cores)
      : work_(work), space_(ub / (2 * kSets)), cores_(cores) {}

  void put(Work& work) const {
    std::uint64_t fewest = ~std::uint64_t{0};
    for_choices([&](std::uint32_t rows, std::uint32_t columns) {
      fewest = std::min(fewest, clocks_of(rows, columns));
    });
    std::uint32_t longest = 0;
    for_choices([&](std::uint32_t rows, std::uint32_t columns) {
      const std::uint32_t shorter = std::min(rows, columns);
      if (shorter <= longest || clocks_of(rows, columns) > fewest + fewest / kHardly) return;
      longest = shorter;
      work.tile_rows = rows, work.tile_columns = columns;
    });
  }

 private:
  static constexpr std::uint32_t kMost = 4096;  // rows of a copy
  static constexpr std::uint64_t kHardly = 32;  // a part of the clocks
  template <class Use>
  void for_choices(Use use) const {
    const auto most = [](const Axis& axis) {
      return static_cast<std::uint32_t>(
          std::min<std::uint64_t>(aicore::round_up<std::uint64_t>(axis.size, kBlock), kMost));
    };
    const bool keep = work_.columns.size % kBlock != 0 && fits(kBlock, work_.columns.size);
    for (std::uint32_t rows = kBlock; rows <= most(work_.rows); rows += kBlock) {
      std::uint32_t columns = keep ? static_cast<std::uint32_t>(work_.columns.size) : kBlock;
      for (; columns <= most(work_.columns) && fits(rows, columns); columns += kBlock) {
        use(rows, columns);
      }
    }
  }
  bool fits(std::uint64_t rows, std::uint64_t columns) const {
    return columns <= kMost && rows * row_bytes(static_cast<std::uint32_t>(columns)) <= space_ &&
           columns * row_bytes(static_cast<std::uint32_t>(rows)) <= space_;
  }
  // Of the slowest pipe.
  std::uint64_t clocks_of(std::uint64_t rows, std::uint64_t columns) const {
    const std::uint64_t tiles = aicore::divide_up(work_.rows.size, rows) *
                                aicore::divide_up(work_.columns.size, columns) * work_.outer();
    const std::uint64_t bytes = rows * columns * kSize;
    const std::uint64_t computing =
        rows * aicore::divide_up<std::uint64_t>(columns, kBlock) * 57 / 10;
    const std::uint64_t slowest =
        std::max({computing, rows * 34 + bytes / 59, columns * 34 + bytes / 109});
    return aicore::divide_up<std::uint64_t>(tiles, cores_) * slowest;
  }

  const Work& work_;
  const std::uint64_t space_;
  const std::uint32_t cores_;
};

// Whole rows if they fit, as many as keep all cores busy.
void tile_copies(Work& work, std::uint64_t ub, std::uint32_t cores) {
  const std::uint64_t space = ub / (2 * kSets) / aicore::kLocalAlignment * kBlock;  // elements
  work.tile_columns = static_cast<std::uint32_t>(std::min(space, work.columns.size));
  const std::uint64_t across = work.columns_of_tiles() * work.outer();
  const std::uint64_t fit = space / aicore::round_up(work.tile_columns, kBlock);
  const std::uint64_t shared =
      aicore::divide_up(work.rows.size, aicore::divide_up<std::uint64_t>(cores, across));
  work.tile_rows = static_cast<std::uint32_t>(std::max<std::uint64_t>(std::min(fit, shared), 1));
}

void host(std::uint32_t block_num, OperatorStream& stream, const TransposeParams& params) {
  if (params.axes == 0 || params.axes > kMostAxes) return stream.refuse("1 to 8 axes are possible");
  std::uint64_t elements = 1;
  std::uint32_t seen = 0;
  for (std::uint32_t i = 0; i < params.axes; ++i) {
    if (params.order[i] < params.axes) seen |= 1U << params.order[i];
    const std::uint64_t side = params.sides[i];
    if (side != 0 && elements > aicore::kMostElements / side) {
      return stream.refuse("elements must be below 2^44");
    }
    elements *= side;
  }
  if (seen != (1U << params.axes) - 1) return stream.refuse("the order names an axis twice");
  if (elements == 0) return;
  if (!aligned(params.from, kTypeA) || !aligned(params.to, kTypeA)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  if (stream.limits().ub < 8 * 1024) return stream.refuse("UB is smaller than 8 KiB");
  Work work;
  work.from = params.from, work.to = params.to;
  Axes(params).put(work);
  Launches launches(stream, CoreKind::kVector, block_num);
  const std::uint32_t cores = launches.cores(CoreKind::kVector);
  if (work.turned != 0) {
    Tiling(Work(work), stream.limits().ub, cores).put(work);
  } else {
    tile_copies(work, stream.limits().ub, cores);
  }
  launches.launch(CoreKind::kVector, 0U, work,
                  work.rows_of_tiles() * work.columns_of_tiles() * work.outer());
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::kernels::Work, npu::kernels::host,
             npu::operators::TransposeParams)
