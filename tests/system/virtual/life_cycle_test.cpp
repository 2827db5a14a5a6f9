// SPDX-License-Identifier: Apache-2.0
// A virtual function from its making to its end, as Linux and its driver see it.
#include "divided_card.hpp"

namespace npu::test {
namespace {

TEST(VirtualFunctions, TheDriverOpensOneAsACard) {
  DividedCard card;
  card.run([&](Owner& owner) {
    const auto before = must_have(owner.functions->free_share());
    ASSERT_TRUE(owner.functions->set_count(4));
    const auto made = owner.create("vir06_1c_16g");
    ASSERT_TRUE(made.bdf);
    {
      Tenant tenant(owner.host, *made.bdf);
      EXPECT_EQ(tenant.device->info().ai_cores, 6U);
      EXPECT_TRUE(tenant.fill(0x1111));
      EXPECT_TRUE(tenant.holds(0x1111));
    }
    EXPECT_TRUE(owner.functions->destroy(made.index));
    EXPECT_EQ(must_have(owner.functions->free_share()), before);
  });
}

}  // namespace
}  // namespace npu::test
