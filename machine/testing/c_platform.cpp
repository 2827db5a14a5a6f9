// SPDX-License-Identifier: Apache-2.0
#include "machine/testing/c_platform.hpp"

#include <utility>

// NOLINTBEGIN(readability-identifier-naming): names of the C interface
struct npu_region {
  std::unique_ptr<npu::platform::MmioRegion> inner;
};
struct npu_vector {
  std::unique_ptr<npu::platform::InterruptVector> inner;
};
// NOLINTEND(readability-identifier-naming)

namespace npu::testkit {

namespace {

struct Memory : npu_dma_memory {
  explicit Memory(std::unique_ptr<platform::DmaMemory> memory)
      : npu_dma_memory{memory->cpu().data, memory->bus().value, memory->size()},
        inner(std::move(memory)) {}
  std::unique_ptr<platform::DmaMemory> inner;
};
static_assert(NPU_INVALID_ARGUMENT == 1 + static_cast<int>(ErrorCode::kInvalidArgument) &&
              NPU_TIMEOUT == 1 + static_cast<int>(ErrorCode::kTimeout) &&
              NPU_WRONG_DATA == 1 + static_cast<int>(ErrorCode::kWrongData));

Instant instant(std::int64_t picoseconds) {
  return picoseconds == NPU_NEVER ? Instant::never() : Instant(Picoseconds(picoseconds));
}

platform::DmaDirection direction_of(npu_direction direction) {
  switch (direction) {
    case NPU_DEVICE_READS:
      return platform::DmaDirection::kDeviceReads;
    case NPU_DEVICE_WRITES:
      return platform::DmaDirection::kDeviceWrites;
    case NPU_BIDIRECTIONAL:
      break;
  }
  return platform::DmaDirection::kBidirectional;
}

}  // namespace

struct CPlatform::Calls {
  static CPlatform& of(npu_platform* handle) { return *static_cast<CPlatform*>(handle); }
  static platform::Platform& inner(npu_platform* handle) { return of(handle).platform_; }
  static int failed(npu_platform* handle, const Error& error) {
    of(handle).error_ = error.message();
    return status_of(error.code);
  }

  static std::uint32_t config_read(npu_platform* p, std::uint16_t bdf, std::uint32_t offset,
                                   unsigned width) {
    return inner(p).pci().read(platform::Bdf::unpack(bdf), offset, width);
  }
  static void config_write(npu_platform* p, std::uint16_t bdf, std::uint32_t offset, unsigned width,
                           std::uint32_t value) {
    inner(p).pci().write(platform::Bdf::unpack(bdf), offset, width, value);
  }

  static int map_bar(npu_platform* p, std::uint16_t bdf, unsigned bar, std::uint64_t offset,
                     std::uint64_t size, npu_caching caching, npu_region** region) {
    auto mapped =
        inner(p).map_bar(platform::Bdf::unpack(bdf), bar, offset, size,
                         caching == NPU_WRITE_COMBINING ? platform::Caching::kWriteCombining
                                                        : platform::Caching::kUncached);
    if (!mapped) return failed(p, mapped.error());
    *region = new npu_region{std::move(*mapped)};
    return NPU_OK;
  }
  static void unmap_bar(npu_platform*, npu_region* region) { delete region; }
  static std::uint32_t read32(npu_platform*, npu_region* region, std::uint64_t offset) {
    return region->inner->read32(offset);
  }
  static std::uint64_t read64(npu_platform*, npu_region* region, std::uint64_t offset) {
    return region->inner->read64(offset);
  }
  static void write32(npu_platform*, npu_region* region, std::uint64_t offset,
                      std::uint32_t value) {
    region->inner->write32(offset, value);
  }
  static void write64(npu_platform*, npu_region* region, std::uint64_t offset,
                      std::uint64_t value) {
    region->inner->write64(offset, value);
  }

  static int allocate_dma(npu_platform* p, std::uint16_t bdf, std::uint64_t size,
                          std::uint64_t alignment, npu_direction direction,
                          npu_dma_memory** memory) {
    auto made =
        inner(p).allocate_dma(platform::Bdf::unpack(bdf), size, alignment, direction_of(direction));
    if (!made) return failed(p, made.error());
    *memory = new Memory(std::move(*made));
    return NPU_OK;
  }
  static void free_dma(npu_platform*, npu_dma_memory* memory) {
    delete static_cast<Memory*>(memory);
  }

  static void write_barrier(npu_platform* p) { inner(p).write_barrier(); }
  static void read_barrier(npu_platform* p) { inner(p).read_barrier(); }

  static int open_vector(npu_platform* p, std::uint16_t bdf, unsigned number, npu_vector** vector) {
    auto opened = inner(p).open_vector(platform::Bdf::unpack(bdf), number);
    if (!opened) return failed(p, opened.error());
    *vector = new npu_vector{std::move(*opened)};
    return NPU_OK;
  }
  static void close_vector(npu_platform*, npu_vector* vector) { delete vector; }
  static std::uint64_t count(npu_platform*, npu_vector* vector) { return vector->inner->count(); }
  static int wait_after(npu_platform* p, npu_vector* vector, std::uint64_t seen,
                        std::int64_t deadline, std::uint64_t* count) {
    const auto now = vector->inner->wait_after(seen, instant(deadline));
    if (!now) return failed(p, now.error());
    if (count != nullptr) *count = *now;
    return NPU_OK;
  }

  static std::int64_t now(npu_platform* p) {
    return inner(p).clock().now().since_power_up().count();
  }
  static void sleep_until(npu_platform* p, std::int64_t deadline) {
    inner(p).clock().sleep_until(instant(deadline));
  }
  static void relax(npu_platform* p, const volatile void* watched, std::size_t bytes,
                    std::int64_t deadline) {
    const auto* const data = static_cast<const std::byte*>(const_cast<const void*>(watched));
    inner(p).clock().relax({data, bytes}, instant(deadline));
  }

  static int reset_function(npu_platform* p, std::uint16_t bdf) {
    const auto done = inner(p).reset_function(platform::Bdf::unpack(bdf));
    return done ? static_cast<int>(NPU_OK) : failed(p, done.error());
  }
  static void note_never_freed(npu_platform* p, const char* kind, std::uint64_t count,
                               std::uint64_t bytes) {
    inner(p).note_never_freed(kind, count, bytes);
  }
  static const char* last_error(npu_platform* p) { return of(p).error_.c_str(); }
};

const npu_platform_functions CPlatform::kTable = {
    sizeof(npu_platform_functions),
    Calls::config_read,
    Calls::config_write,
    Calls::map_bar,
    Calls::unmap_bar,
    Calls::read32,
    Calls::read64,
    Calls::write32,
    Calls::write64,
    Calls::allocate_dma,
    Calls::free_dma,
    Calls::write_barrier,
    Calls::read_barrier,
    Calls::open_vector,
    Calls::close_vector,
    Calls::count,
    Calls::wait_after,
    Calls::now,
    Calls::sleep_until,
    Calls::relax,
    Calls::reset_function,
    Calls::note_never_freed,
    Calls::last_error,
};

CPlatform::CPlatform(platform::Platform& platform) : npu_platform{&kTable}, platform_(platform) {}

}  // namespace npu::testkit
