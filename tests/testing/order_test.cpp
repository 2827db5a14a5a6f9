// SPDX-License-Identifier: Apache-2.0
// A missing write barrier, as the fixture tells of it.
#include "npu/abi/layout.hpp"
#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"
#include "npu/testing/machine_test.hpp"
#include "npu/testing/without_barriers.hpp"

namespace npu::testkit {
namespace {

using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;

// Stores into device memory, and a register on which the card looks at it.
class Stores : public MachineTest {
 protected:
  explicit Stores(const std::string& order) : MachineTest("910b", {"cpu.order=" + order}) {}
  void SetUp() override {
    platform().pci().write16(card(), abi::pci::kCommand, abi::pci::kCommandMemory);
    registers_ = map(abi::kRegisterBar, platform::Caching::kUncached);
    memory_ = map(abi::kMemoryBar, platform::Caching::kWriteCombining);
  }
  std::unique_ptr<platform::MmioRegion> map(unsigned bar, platform::Caching caching) {
    auto mapped = platform().map_bar(card(), bar, 0, 4_KiB, caching);
    EXPECT_THAT(mapped, Succeeds());
    return std::move(*mapped);
  }
  void submit(platform::Platform& host) {
    for (unsigned i = 0; i < 20; ++i) {
      memory_->write64(0x40, i);
      host.write_barrier();
      registers_->write32(abi::MmuInvalidate::kOffset, 0);
      registers_->read32(abi::ChipId::kOffset);
    }
  }
  std::unique_ptr<platform::MmioRegion> registers_, memory_;
};
struct WeakStores : Stores {
  WeakStores() : Stores("weak") {}
};
struct StrongStores : Stores {
  StrongStores() : Stores("strong") {}
};

TEST_F(WeakStores, WithoutABarrierAreNamedWithWhatOvertakesThem) {
  WithoutBarriers without(platform());
  submit(without);
  const auto lines = overtaken_stores();
  EXPECT_THAT(lines, Not(IsEmpty()));
  EXPECT_THAT(lines, Each(ContainsRegex("MMU_INVALIDATE .01:00.0 BAR0.0x218. overtook .* to "
                                        "BAR2.0x40: no write barrier between")));
}

TEST_F(WeakStores, WithoutReadBarriersAloneKeepTheirOrder) {
  WithoutBarriers without(platform(), WithoutBarriers::Without::kReadBarriers);
  submit(without);
  EXPECT_THAT(overtaken_stores(), IsEmpty());
}

// The fixture looks at its end.
TEST_F(WeakStores, WithABarrierPass) {
  submit(platform());
}

TEST_F(StrongStores, LeaveInProgramOrderWithoutABarrier) {
  WithoutBarriers without(platform());
  submit(without);
  EXPECT_THAT(overtaken_stores(), IsEmpty());
}

}  // namespace
}  // namespace npu::testkit
