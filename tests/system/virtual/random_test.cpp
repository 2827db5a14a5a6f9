// SPDX-License-Identifier: Apache-2.0
// Random makings, unmakings, resets and runs against a plain model of the card's resources.
#include <map>
#include <random>

#include "divided_card.hpp"

namespace npu::test {
namespace {

using driver::CardPartition;

class RandomLife : public testing::TestWithParam<unsigned> {
 protected:
  static constexpr std::uint32_t kFunctions = 6;

  struct Life {
    driver::VirtualDevice made;
    std::unique_ptr<Tenant> tenant;
    std::uint32_t pattern = 0;  // 0: nothing was written
  };

  std::uint32_t random() { return static_cast<std::uint32_t>(engine_()); }
  void step(Owner& owner);
  void create(Owner& owner);
  void use(Owner& owner, Life& life);
  void check_free(Owner& owner);

  std::mt19937 engine_{GetParam()};
  std::map<std::uint32_t, Life> lives_;
  CardPartition totals_;
  unsigned created_ = 0, refused_ = 0;
};

void RandomLife::create(Owner& owner) {
  const auto& templates = owner.functions->templates();
  const auto& wanted = templates[random() % templates.size()];
  driver::VirtualDeviceOptions options;
  options.name = wanted.name;
  auto made = owner.functions->create(options);
  std::uint32_t cores = wanted.partition.ai_cores, aicpus = wanted.partition.aicpus;
  for (const auto& [index, life] : lives_) {
    cores += life.made.partition.ai_cores;
    aicpus += life.made.partition.aicpus;
  }
  if (made) {
    EXPECT_LE(cores, totals_.ai_cores);
    EXPECT_LE(aicpus, totals_.aicpus);
    EXPECT_EQ(lives_.count(made->index), 0U);
    lives_[made->index].made = *made;
    ++created_;
    return;
  }
  EXPECT_TRUE(made.error().code == ErrorCode::kOutOfResources ||
              made.error().code == ErrorCode::kOutOfMemory)
      << made.error().message();
  ++refused_;
}

void RandomLife::use(Owner& owner, Life& life) {
  if (!life.tenant) life.tenant = std::make_unique<Tenant>(owner.host, *life.made.bdf);
  if (life.pattern != 0) {
    EXPECT_TRUE(life.tenant->holds(life.pattern));
  }
  life.pattern = random() | 1;
  EXPECT_TRUE(life.tenant->fill(life.pattern));
}

void RandomLife::check_free(Owner& owner) {
  CardPartition used;
  for (const auto& [index, life] : lives_) {
    used.ai_cores += life.made.partition.ai_cores;
    used.aicpus += life.made.partition.aicpus;
    used.memory += life.made.partition.memory;
    used.jpegd += life.made.partition.jpegd;
  }
  const auto free = must(owner.functions->free_partition());
  EXPECT_EQ(free.ai_cores + used.ai_cores, totals_.ai_cores);
  EXPECT_EQ(free.aicpus + used.aicpus, totals_.aicpus);
  EXPECT_EQ(free.memory + used.memory, totals_.memory);
  EXPECT_EQ(free.jpegd + used.jpegd, totals_.jpegd);
}

void RandomLife::step(Owner& owner) {
  const auto choice = random() % 8;
  if (lives_.empty() || choice < 3) return create(owner);
  auto life = std::next(lives_.begin(), static_cast<long>(random() % lives_.size()));
  if (choice < 6) return use(owner, life->second);
  if (choice == 6) {
    life->second.tenant.reset();
    life->second.pattern = 0;
    EXPECT_TRUE(owner.host.reset_function(*life->second.made.bdf));
    return;
  }
  const bool open = life->second.tenant != nullptr;
  const auto gone = owner.functions->destroy(life->first);
  EXPECT_EQ(static_cast<bool>(gone), !open);
  if (gone) lives_.erase(life);
}

TEST_P(RandomLife, LeavesWhatThePlainModelSays) {
  DividedCard card;
  card.run([&](Owner& owner) {
    totals_ = owner.functions->totals();
    ASSERT_TRUE(owner.functions->set_count(kFunctions));
    for (int i = 0; i < 60; ++i) {
      step(owner);
      check_free(owner);
      ASSERT_FALSE(HasFailure()) << "step " << i;
    }
    EXPECT_GT(created_, 0U);
    for (auto& [index, life] : lives_) life.tenant.reset();
    EXPECT_TRUE(owner.functions->destroy_all());
    EXPECT_EQ(must(owner.functions->free_partition()), totals_);
    EXPECT_TRUE(owner.functions->set_count(0));
  });
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLife, testing::Range(1U, 9U));

}  // namespace
}  // namespace npu::test
