// SPDX-License-Identifier: Apache-2.0
// Rows of a table by index: gathered, or with NPU_JIT_SCATTER 1 scattered. NPU_JIT_ELEMENT_A and
// NPU_JIT_ELEMENT_C: one type, any; IndexedRowsParams. The scalar unit reads the indices; rows that
// lie side by side are one copy, those of the table one each.
#include "kernels/device/common/entries.hpp"
#include "kernels/device/common/stages.hpp"
#include "kernels/device/vector/types.hpp"

#ifndef NPU_JIT_SCATTER
#define NPU_JIT_SCATTER 2
#endif

namespace npu::kernels {
namespace {

using vector::kTypeA;

static_assert(NPU_JIT_SCATTER == 0 || NPU_JIT_SCATTER == 1, "NPU_JIT_SCATTER must be 0 or 1");
static_assert(kTypeA == vector::kTypeC,
              "what is moved keeps its type: NPU_JIT_ELEMENT_A and NPU_JIT_ELEMENT_C");

constexpr bool kScatters = NPU_JIT_SCATTER == 1;
constexpr auto kSize = static_cast<std::uint32_t>(platform::bytes_of(kTypeA));
constexpr std::uint32_t kMostRows = 64;  // of a tile: as many indices at a time

class Rows {
 public:
  Rows(AicorePort& port, const IndexedRowsParams& work) : port_(port), work_(work), sets_(port) {
    const auto ub = static_cast<std::uint32_t>(port.buffer_size(LocalBuffer::kUb));
    space_ = ub / kSets / aicore::kLocalAlignment * aicore::kLocalAlignment;
  }

  // False: an index is beyond the table.
  bool run() {
    const std::uint32_t most = space_ / kSize;
    const std::uint32_t part = std::min(work_.columns, most);
    const std::uint32_t fit = space_ / aicore::row_bytes(part, kTypeA);
    const std::uint32_t piece = std::min(std::max(fit, 1U), kMostRows);
    bool good = true;
    aicore::for_rows(port_.call(), work_.count, piece, [&](std::uint32_t row, std::uint32_t rows) {
      good = good && read(row, rows);
      for (std::uint64_t column = 0; good && column < work_.columns; column += part) {
        move(row, rows, column,
             static_cast<std::uint32_t>(std::min<std::uint64_t>(part, work_.columns - column)));
      }
    });
    return good;
  }

 private:
  bool read(std::uint32_t row, std::uint32_t rows) {
    const std::uint64_t first = work_.indices + std::uint64_t{row} * sizeof(std::int32_t);
    const std::uint64_t end = first + rows * sizeof(std::int32_t);
    for (std::uint64_t line = first / abi::kCacheLine * abi::kCacheLine; line < end;
         line += abi::kCacheLine) {
      port_.clean_invalidate(line);
    }
    for (std::uint32_t i = 0; i < rows; ++i) {
      const auto bits = static_cast<std::uint32_t>(port_.load(first + i * 4, 4));
      indices_[i] = static_cast<std::int32_t>(bits);
      if (indices_[i] >= 0 && bits >= work_.table_rows) return false;
    }
    return true;
  }

  void move(std::uint32_t row, std::uint32_t rows, std::uint64_t column, std::uint32_t columns) {
    const unsigned i = sets_.begin();
    const std::uint32_t at = i * space_, pitch = aicore::row_bytes(columns, kTypeA);
    const auto place = [&](std::uint64_t table, std::uint64_t index) {
      return table + (index * work_.columns + column) * kSize;
    };
    const auto each = [&](auto use) {
      for (std::uint32_t k = 0; k < rows; ++k) {
        if (indices_[k] < 0) continue;
        use(at + k * pitch, place(work_.table, static_cast<std::uint32_t>(indices_[k])), row + k);
      }
    };
    if constexpr (kScatters) {
      load(at, place(work_.rows, row), rows, columns, pitch);
      sets_.loaded(i);
      each([&](std::uint32_t from, std::uint64_t to, std::uint32_t) {
        store(to, from, 1, columns, pitch);
      });
    } else {
      each([&](std::uint32_t to, std::uint64_t from, std::uint32_t) {
        load(to, from, 1, columns, pitch);
      });
      sets_.loaded(i);
      // Between rows that are left out.
      for (std::uint32_t k = 0; k < rows;) {
        std::uint32_t end = k;
        while (end < rows && indices_[end] >= 0) ++end;
        if (end != k) store(place(work_.rows, row + k), at + k * pitch, end - k, columns, pitch);
        k = end + 1;
      }
    }
    sets_.stored(i);
  }
  void load(std::uint32_t to, std::uint64_t from, std::uint32_t rows, std::uint32_t columns,
            std::uint32_t pitch) const {
    platform::CopyIn copy;
    copy.to = {LocalBuffer::kUb, to};
    copy.from = from;
    copy.rows = rows;
    copy.row_bytes = columns * kSize;
    copy.from_pitch = rows == 1 ? 0 : std::uint64_t{work_.columns} * kSize;
    copy.to_pitch = pitch;
    port_.issue(copy);
  }
  void store(std::uint64_t to, std::uint32_t from, std::uint32_t rows, std::uint32_t columns,
             std::uint32_t pitch) const {
    platform::CopyOut copy;
    copy.to = to;
    copy.from = {LocalBuffer::kUb, from};
    copy.rows = rows;
    copy.row_bytes = columns * kSize;
    copy.to_pitch = rows == 1 ? 0 : std::uint64_t{work_.columns} * kSize;
    copy.from_pitch = pitch;
    port_.issue(copy);
  }

  AicorePort& port_;
  const IndexedRowsParams work_;
  Passing sets_;
  std::uint32_t space_ = 0;
  std::int32_t indices_[kMostRows] = {};
};

int kernel(AicorePort& port) {
  const auto work =
      work_from<IndexedRowsParams>(aicore::Arguments(port, kWorkWords<IndexedRowsParams>));
  const bool good = Rows(port, work).run();
  port.pipe_barrier(Pipe::kAll);
  return good ? 0 : aicore::kBadArguments;
}

void host(std::uint32_t block_num, OperatorStream& stream, const IndexedRowsParams& params) {
  if (params.count == 0 || params.columns == 0) return;
  if (params.count > kMostSide || params.columns > kMostSide || params.table_rows > kMostSide) {
    return stream.refuse("sides must be below 2^31");
  }
  if (!aligned(params.table, kTypeA) || !aligned(params.rows, kTypeA) ||
      !aligned(params.indices, DataType::kInt32)) {
    return stream.refuse("addresses must be multiples of the elements' sizes");
  }
  if (stream.limits().ub < 8 * 1024) return stream.refuse("UB is smaller than 8 KiB");
  Launches(stream, CoreKind::kVector, block_num)
      .launch(CoreKind::kVector, 0U, params, params.count);
}

}  // namespace
}  // namespace npu::kernels

NPU_OPERATOR(npu::kernels::kernel, npu::operators::IndexedRowsParams, npu::kernels::host,
             npu::operators::IndexedRowsParams)
