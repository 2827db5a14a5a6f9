// SPDX-License-Identifier: Apache-2.0
// DMA memory: where it is mapped, for whom, and what the kernel may refuse.
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <fstream>

#include "tests/support/matchers.hpp"
#include "tests/unit/vfio/fake_kernel.hpp"

namespace npu::test {
namespace {

using platform::DmaDirection;

class VfioDma : public testing::Test {
 protected:
  VfioDma() {
    kernel.add(kCard, "7");
    kernel.add({2, 0, 0}, "8");
  }
  Result<std::unique_ptr<platform::DmaMemory>> allocate(
      Bytes size, Bytes alignment = 4096, DmaDirection direction = DmaDirection::kBidirectional) {
    return vfio.allocate_dma(kCard, size, alignment, direction);
  }

  FakeKernel kernel;
  VfioPlatform vfio{kernel.options(), kernel};
};

TEST_F(VfioDma, IsMappedForTheDirectionAsked) {
  const auto reads = allocate(4096, 4096, DmaDirection::kDeviceReads);
  const auto writes = allocate(4096, 4096, DmaDirection::kDeviceWrites);
  const auto both = allocate(4096);
  ASSERT_THAT(both, IsOk());
  const auto flags = [&](const auto& memory) {
    return kernel.mapping((*memory)->bus().value).flags;
  };
  EXPECT_EQ(flags(reads), VFIO_DMA_MAP_FLAG_READ);
  EXPECT_EQ(flags(writes), VFIO_DMA_MAP_FLAG_WRITE);
  EXPECT_EQ(flags(both), VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE);
}

TEST_F(VfioDma, IsUnmappedWhenItIsGivenBack) {
  auto memory = must(allocate(10000));
  const auto bus = memory->bus().value;
  EXPECT_EQ(kernel.mapping(bus).size, 12288U);
  EXPECT_EQ(kernel.mapping(bus).vaddr, reinterpret_cast<std::uintptr_t>(memory->cpu().data));
  memory.reset();
  EXPECT_TRUE(kernel.mappings.empty());
  EXPECT_EQ((*allocate(4096))->bus().value, bus) << "the address is free again";
}

TEST_F(VfioDma, AnAddressThatCannotBeUnmappedIsNotUsedAgain) {
  auto memory = allocate(4096);
  const auto bus = (*memory)->bus().value;
  kernel.unmap_fails = true;
  memory->reset();
  kernel.unmap_fails = false;
  EXPECT_NE((*allocate(4096))->bus().value, bus);
}

TEST_F(VfioDma, StaysInsideTheIommusRanges) {
  kernel.ranges = {{0x10000, 0x12FFF}, {0xFEF0'0000, 0xFEF0'0FFF}};
  std::vector<std::unique_ptr<platform::DmaMemory>> held;
  for (const std::uint64_t expected : {0x10000U, 0x11000U, 0x12000U, 0xFEF0'0000U}) {
    auto memory = must(allocate(4096));
    EXPECT_EQ(memory->bus().value, expected);
    held.push_back(std::move(memory));
  }
  EXPECT_THAT(allocate(4096), FailsWith(ErrorCode::kOutOfResources, "no bus addresses left"));
}

TEST_F(VfioDma, OldKernelsThatSayNoRangesWorkToo) {
  kernel.says_ranges = false;
  const auto memory = must(allocate(4096));
  EXPECT_EQ(memory->bus().value, kernel.options().first_bus_address);
}

TEST_F(VfioDma, FollowsTheIommusPageSize) {
  kernel.page_sizes = ~std::uint64_t{0xFFFF};
  const auto memory = must(allocate(4096));
  EXPECT_EQ(kernel.mapping(memory->bus().value).size, 65536U);
  EXPECT_EQ(memory->size(), 4096U);
}

TEST_F(VfioDma, LargeMemoryIsAlignedForLargePages) {
  const auto small = allocate(4096);
  const auto large = must(allocate(2_MiB + 4096));
  const auto& mapping = kernel.mapping(large->bus().value);
  EXPECT_EQ(large->bus().value % 2_MiB, 0U);
  EXPECT_EQ(mapping.vaddr % 2_MiB, 0U);
  EXPECT_EQ(mapping.size, 2_MiB + 4096);
  const auto bytes = large->cpu();
  EXPECT_EQ(bytes.data[0], std::byte{0});
  EXPECT_EQ(bytes.data[bytes.size - 1], std::byte{0});
}

// A child's copy-on-write would leave the device with the parent's old page.
TEST_F(VfioDma, IsNotInheritedByAChild) {
  const auto memory = must(allocate(4096));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory->cpu().data);
  std::ifstream maps("/proc/self/smaps");
  std::string flags;
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long first = 0, last = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &first, &last) == 2) {
      here = begin >= first && begin < last;
    }
    if (here && line.rfind("VmFlags:", 0) == 0) flags = line;
  }
  EXPECT_THAT(flags, testing::HasSubstr(" dc")) << "do not copy on fork";
}

// Untouched, a page for reading only would be pinned as the zero page that all processes share, and
// the device would not see later stores.
TEST_F(VfioDma, ItsPagesAreThereBeforeTheyAreMapped) {
  const auto memory = must(allocate(64_KiB, 4096, DmaDirection::kDeviceReads));
  std::array<unsigned char, 16> present{};
  ASSERT_EQ(::mincore(memory->cpu().data, 64_KiB, present.data()), 0);
  for (const auto page : present) EXPECT_EQ(page & 1, 1);
}

TEST_F(VfioDma, RefusalsSayWhatToDo) {
  kernel.map_errno = ENOMEM;
  EXPECT_THAT(allocate(4096), FailsWith(ErrorCode::kOutOfMemory, "4096 bytes"));
  kernel.map_errno = ENOSPC;
  EXPECT_THAT(allocate(4096), FailsWith(ErrorCode::kOutOfResources, "dma_entry_limit"));
  kernel.map_errno = EFAULT;
  EXPECT_THAT(allocate(4096), FailsWith(ErrorCode::kIo));
  kernel.map_errno = 0;
  EXPECT_EQ((*allocate(4096))->bus().value, kernel.options().first_bus_address)
      << "refused addresses are free";
}

TEST_F(VfioDma, CardsOfDifferentGroupsShareNoAddressSpace) {
  const auto one = allocate(4096);
  const auto first = kernel.mapping((*one)->bus().value);
  const auto other = must(vfio.allocate_dma({2, 0, 0}, 4096, 4096, DmaDirection::kBidirectional));
  EXPECT_EQ(other->bus(), (*one)->bus());
  EXPECT_NE(kernel.mapping(other->bus().value).container, first.container);
}

}  // namespace
}  // namespace npu::test
