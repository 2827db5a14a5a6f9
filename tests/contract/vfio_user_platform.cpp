// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/vfio_user_platform.hpp"

#include <linux/vfio.h>
#include <sys/eventfd.h>

#include <cstring>

#include "driver/vfio/interrupt.hpp"
#include "npu/abi/pci.hpp"
#include "npu/base/checked.hpp"

namespace npu::test {

namespace pci = abi::pci;

namespace {

constexpr Bytes kPage = 4096;

class Region : public platform::MmioRegion {
 public:
  Region(VfioUserPlatform& owner, unsigned bar, Bytes offset, Bytes size)
      : owner_(owner), bar_(bar), offset_(offset), size_(size) {}
  Bytes size() const override { return size_; }
  std::uint32_t read32(Bytes offset) override {
    return static_cast<std::uint32_t>(owner_.load(bar_, offset_ + offset, 4));
  }
  std::uint64_t read64(Bytes offset) override { return owner_.load(bar_, offset_ + offset, 8); }
  void write32(Bytes offset, std::uint32_t value) override {
    owner_.store(bar_, offset_ + offset, 4, value);
  }
  void write64(Bytes offset, std::uint64_t value) override {
    owner_.store(bar_, offset_ + offset, 8, value);
  }

 private:
  VfioUserPlatform& owner_;
  unsigned bar_;
  Bytes offset_;
  Bytes size_;
};

class Memory : public platform::DmaMemory {
 public:
  Memory(VfioUserPlatform& owner, std::unique_ptr<vfio_user::SharedMemory> file, Bytes size,
         std::uint64_t iova)
      : DmaMemory({file->data(), static_cast<std::size_t>(size)}, platform::BusAddress{iova}),
        owner_(owner),
        file_(std::move(file)) {}
  ~Memory() override { owner_.unmap(bus().value, file_->size()); }

 private:
  VfioUserPlatform& owner_;
  std::unique_ptr<vfio_user::SharedMemory> file_;
};

class Vector : public driver::vfio::EventfdVector {
 public:
  Vector(VfioUserPlatform& owner, FileDescriptor event, unsigned vector)
      : EventfdVector(owner.clock(), std::move(event), nullptr, vector),
        owner_(owner),
        number_(vector) {}
  ~Vector() override { owner_.close_vector(number_); }

 private:
  VfioUserPlatform& owner_;
  unsigned number_;
};

tl::unexpected<Error> absent(platform::Bdf bdf) {
  return fail(ErrorCode::kNotFound, "no function at " + to_string(bdf));
}

}  // namespace

VfioUserPlatform::VfioUserPlatform(vfio_user::Client client) : client_(std::move(client)) {
  write32(kCard, pci::kBar0, 0xFE80'0000);
  write32(kCard, pci::kBar0 + 8, 0);
  write32(kCard, pci::kBar0 + 12, 0x3F0);
  write16(kCard, pci::kCommand, pci::kCommandMemory);
}

std::uint64_t VfioUserPlatform::load(unsigned region, Bytes offset, unsigned width) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (width == 8) return client_.read64(region, offset);
  if (width == 4) return client_.read32(region, offset);
  const auto reply = client_.read(region, offset, width);
  std::uint64_t value = ~0ULL >> (64 - 8 * width);
  const std::size_t header = 16;  // offset, region and count precede the data
  if (reply.error == 0) std::memcpy(&value, reply.payload.data() + header, width);
  return value;
}

void VfioUserPlatform::store(unsigned region, Bytes offset, unsigned width, std::uint64_t value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  vfio_user::Blob bytes(width);
  std::memcpy(bytes.data(), &value, width);
  client_.write(region, offset, bytes);
}

std::uint32_t VfioUserPlatform::read(platform::Bdf bdf, std::uint32_t offset, unsigned width) {
  if (bdf != kCard) return 0xFFFFFFFF >> (32 - 8 * width);
  return static_cast<std::uint32_t>(load(VFIO_PCI_CONFIG_REGION_INDEX, offset, width));
}

void VfioUserPlatform::write(platform::Bdf bdf, std::uint32_t offset, unsigned width,
                             std::uint32_t value) {
  if (bdf == kCard) store(VFIO_PCI_CONFIG_REGION_INDEX, offset, width, value);
}

Result<std::unique_ptr<platform::MmioRegion>> VfioUserPlatform::map_bar(platform::Bdf bdf,
                                                                        unsigned bar, Bytes offset,
                                                                        Bytes size,
                                                                        platform::Caching) {
  if (bdf != kCard) return absent(bdf);
  Bytes length = 0;
  if (bar < 6) {
    const std::lock_guard<std::mutex> lock(mutex_);
    length = client_.region_info(bar).u64(16);
  }
  if (length == 0) return fail(ErrorCode::kNotFound, "no such BAR");
  if (size == 0 || !is_aligned(offset | size, kPage)) return fail(ErrorCode::kMisaligned, "");
  if (!range_fits(offset, size, length)) return fail(ErrorCode::kOutOfRange, "");
  return std::make_unique<Region>(*this, bar, offset, size);
}

Result<std::unique_ptr<platform::DmaMemory>> VfioUserPlatform::allocate_dma(
    platform::Bdf bdf, Bytes size, Bytes alignment, platform::DmaDirection direction) {
  if (bdf != kCard) return absent(bdf);
  if (size == 0) return fail(ErrorCode::kInvalidArgument, "0 bytes");
  if (!is_power_of_two(alignment) || alignment < kPage) return fail(ErrorCode::kMisaligned, "");
  const auto rounded = checked_align_up(size, kPage);
  if (!rounded || *rounded > 1_GiB) return fail(ErrorCode::kOutOfMemory, "");
  auto file = std::make_unique<vfio_user::SharedMemory>(*rounded);
  const std::uint64_t iova = align_down(next_iova_ + alignment - 1, alignment);
  next_iova_ = iova + *rounded + kPage;
  std::uint32_t rights = vfio_user::kRead | vfio_user::kWrite;
  if (direction == platform::DmaDirection::kDeviceReads) rights = vfio_user::kRead;
  if (direction == platform::DmaDirection::kDeviceWrites) rights = vfio_user::kWrite;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto reply = client_.map(iova, *rounded, file->fd(), 0, rights);
  if (reply.error != 0) return fail(ErrorCode::kIo, "DMA_MAP");
  return std::make_unique<Memory>(*this, std::move(file), size, iova);
}

void VfioUserPlatform::map(std::uint64_t iova, const vfio_user::SharedMemory& memory) {
  const std::lock_guard<std::mutex> lock(mutex_);
  client_.map(iova, memory.size(), memory.fd());
}

void VfioUserPlatform::unmap(std::uint64_t iova, Bytes size) {
  const std::lock_guard<std::mutex> lock(mutex_);
  client_.unmap(iova, size);
}

// There is one function.
Result<platform::BusAddress> VfioUserPlatform::share_dma(platform::DmaMemory& memory,
                                                         platform::Bdf bdf) {
  if (bdf != kCard) return absent(bdf);
  return memory.bus();
}

Result<std::unique_ptr<platform::InterruptVector>> VfioUserPlatform::open_vector(platform::Bdf bdf,
                                                                                 unsigned vector) {
  if (bdf != kCard) return absent(bdf);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (vector >= client_.irq_info(VFIO_PCI_MSIX_IRQ_INDEX).u32(12)) {
    return fail(ErrorCode::kOutOfRange, "vector beyond the table");
  }
  if (!vectors_.insert(vector).second) return fail(ErrorCode::kAlreadyExists, "vector is open");
  FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  client_.set_irqs(vfio_user::kEventfd | vfio_user::kTrigger, VFIO_PCI_MSIX_IRQ_INDEX, vector, 1,
                   {event.get()});
  return std::make_unique<Vector>(*this, std::move(event), vector);
}

void VfioUserPlatform::close_vector(unsigned vector) {
  const std::lock_guard<std::mutex> lock(mutex_);
  client_.set_irqs(vfio_user::kEventfd | vfio_user::kTrigger, VFIO_PCI_MSIX_IRQ_INDEX, vector, 1);
  vectors_.erase(vector);
}

Status VfioUserPlatform::reset_function(platform::Bdf bdf) {
  if (bdf != kCard) return absent(bdf);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (client_.reset().error != 0) return fail(ErrorCode::kIo, "DEVICE_RESET");
  return {};
}

}  // namespace npu::test
