// SPDX-License-Identifier: Apache-2.0
// MSI-X vectors of kernels that can add some, and of those that cannot.
#include "tests/support/matchers.hpp"
#include "tests/unit/vfio/fake_kernel.hpp"

namespace npu::test {
namespace {

class VfioInterrupt : public testing::Test {
 protected:
  FakeKernel kernel;
  FakeVfioFunction& card = kernel.add(kCard, "7");
  VfioPlatform vfio{kernel.options(), kernel};
};

TEST_F(VfioInterrupt, AreCounted) {
  const auto vector = must(vfio.open_vector(kCard, 3));
  EXPECT_EQ(vector->count(), 0U);
  card.signal(card.triggers.at(3));
  EXPECT_THAT(vector->wait_after(0, vfio.clock().now() + 10_s), IsOk());
  card.signal(card.triggers.at(3));
  card.signal(card.triggers.at(3));
  EXPECT_EQ(vector->count(), 3U);
}

TEST_F(VfioInterrupt, WhereNoneCanBeAddedTheWholeTableIsEnabledOnce) {
  const auto low = vfio.open_vector(kCard, 1), high = vfio.open_vector(kCard, 255);
  ASSERT_THAT(high, IsOk());
  EXPECT_EQ(card.enables, 1U);
  EXPECT_EQ(card.enabled, 256U);
  EXPECT_EQ(card.triggers.at(0), -1);
  EXPECT_GE(card.triggers.at(1), 0);
  EXPECT_GE(card.triggers.at(255), 0);
}

TEST_F(VfioInterrupt, WhereTheyCanBeAddedOnlyThoseNeededAreTaken) {
  card.no_resize = false;
  const auto low = vfio.open_vector(kCard, 1);
  EXPECT_EQ(card.enabled, 2U);
  const auto high = vfio.open_vector(kCard, 200);
  ASSERT_THAT(high, IsOk());
  EXPECT_EQ(card.enables, 1U) << "MSI-X stays on";
  EXPECT_GE(card.triggers.at(200), 0);
}

TEST_F(VfioInterrupt, AMachineWithFewVectorsGivesThose) {
  card.machine_vectors = 10;
  const auto last = vfio.open_vector(kCard, 9);
  ASSERT_THAT(last, IsOk());
  EXPECT_EQ(card.enabled, 10U);
  EXPECT_THAT(vfio.open_vector(kCard, 10),
              FailsWith(ErrorCode::kOutOfResources, "the machine has 10"));
}

TEST_F(VfioInterrupt, AVectorThatTheMachineDoesNotHaveIsAnError) {
  card.machine_vectors = 10;
  EXPECT_THAT(vfio.open_vector(kCard, 10),
              FailsWith(ErrorCode::kOutOfResources, "the machine has 10"));
  EXPECT_THAT(vfio.open_vector(kCard, 9), IsOk());
}

TEST_F(VfioInterrupt, AClosedVectorHasNoHandlerAndCanBeOpenedAgain) {
  auto vector = vfio.open_vector(kCard, 4);
  EXPECT_THAT(vfio.open_vector(kCard, 4), FailsWith(ErrorCode::kAlreadyExists));
  vector->reset();
  EXPECT_EQ(card.triggers.at(4), -1);
  EXPECT_THAT(vfio.open_vector(kCard, 4), IsOk());
}

TEST_F(VfioInterrupt, BeyondTheTableIsOutOfRange) {
  EXPECT_THAT(vfio.open_vector(kCard, 256), FailsWith(ErrorCode::kOutOfRange));
}

}  // namespace
}  // namespace npu::test
