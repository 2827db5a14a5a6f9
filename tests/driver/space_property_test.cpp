// SPDX-License-Identifier: Apache-2.0
// Random calls on three address spaces of a small card, with compaction whenever memory is
// fragmented: five seeds of 2,000 rounds. After each, free and used memory are the card; every so
// often the card's page tables are walked and every page's contents compared.
#include <random>

#include "tests/driver/memory_model.hpp"
#include "tests/support/matchers.hpp"

namespace npu::driver {
namespace {

class RandomSpaces : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    test::FakeCardConfig config;
    config.hbm_size = 6_GiB;
    config.bar2_size = 8_GiB;
    card = &fake.add_card(config);
    auto opened = must(Device::open(fake, config.bdf));
    device = std::move(opened);
    model = std::make_unique<MemoryModel>(*device, *card);
    model->spaces.resize(3);
    model->spaces[0].space = &device->address_space();
    for (std::size_t i = 0; i < 2; ++i) {
      others[i] = std::move(*device->create_address_space());
      model->spaces[i + 1].space = others[i].get();
    }
  }
  std::uint64_t below(std::uint64_t limit) { return random() % limit; }
  Bytes draw_pages() { return below(25) == 0 ? 400 + below(400) : 1 + below(20); }
  template <class Map>
  auto pick(Map& map) {
    return std::next(map.begin(), static_cast<std::ptrdiff_t>(below(map.size())));
  }

  void allocate(std::size_t s) {
    const Bytes pages = draw_pages();
    MemoryOptions options;
    options.pinned = below(40) == 0;
    const auto got = space(s).allocate(pages * kPageSize - below(kPageSize), options);
    if (!got) return expect_full(got.error());
    const auto memory = model->add_memory({}, pages);
    model->spaces[s].plain[got->address.value] = pages;
    model->map(s, got->address.value, pages, memory, 0, Access::kReadWrite);
  }
  void free(std::size_t s) {
    auto& plain = model->spaces[s].plain;
    if (plain.empty()) return;
    const auto [at, pages] = *pick(plain);
    ASSERT_THAT(space(s).free(DeviceAddress{at}), IsOk());
    model->unmap(s, at, pages);
    plain.erase(at);
  }
  void create(std::size_t s) {
    const Bytes pages = draw_pages();
    const auto handle = space(s).create_memory(pages * kPageSize);
    if (!handle) return expect_full(handle.error());
    model->memories[model->add_memory(*handle, pages)].holders.insert(unsigned(s));
  }
  void release_memory(std::size_t s) {
    auto& memory = model->memories[below(model->memories.size())];
    const bool held = memory.holders.count(unsigned(s)) != 0;
    ASSERT_EQ(space(s).release_memory(memory.handle).has_value(), held);
    memory.holders.erase(unsigned(s));
  }
  void import_memory(std::size_t s) {
    auto& memory = model->memories[below(model->memories.size())];
    if (memory.holders.empty() || memory.holders.count(unsigned(s)) != 0) return;
    ASSERT_THAT(space(s).import_memory(space(*memory.holders.begin()), memory.handle), IsOk());
    memory.holders.insert(unsigned(s));
  }
  void reserve(std::size_t s) {
    const Bytes pages = 2 * draw_pages();
    const auto at = must(space(s).reserve(pages * kPageSize));
    model->spaces[s].reserved[at.value] = pages;
  }
  void release(std::size_t s) {
    auto& own = model->spaces[s];
    if (own.reserved.empty()) return;
    const auto [at, pages] = *pick(own.reserved);
    const auto mapped = own.pages.lower_bound(at);
    const bool empty = mapped == own.pages.end() || mapped->first >= at + pages * kPageSize;
    ASSERT_EQ(space(s).release(DeviceAddress{at}).has_value(), empty);
    if (empty) own.reserved.erase(at);
  }
  void map(std::size_t s) {
    auto& own = model->spaces[s];
    const auto index = below(model->memories.size());
    const auto& memory = model->memories[index];
    if (own.reserved.empty()) return;
    const auto [begin, reserved] = *pick(own.reserved);
    const bool whole = below(2) == 0;
    const Bytes first = whole ? 0 : below(memory.pages);
    const Bytes count = whole ? memory.pages : 1 + below(memory.pages - first);
    const Bytes skip = below(reserved);
    const auto at = begin + skip * kPageSize;
    const auto next = own.pages.lower_bound(at);
    const bool fits = skip + count <= reserved && memory.holders.count(unsigned(s)) != 0 &&
                      (next == own.pages.end() || next->first >= at + count * kPageSize);
    const auto ok =
        space(s).map(DeviceAddress{at}, count * kPageSize, memory.handle, first * kPageSize);
    ASSERT_EQ(ok.has_value(), fits);
    if (fits) model->map(s, at, count, index, first, Access::kNone);
  }
  // A run of VMM-style pages, at most 40.
  std::pair<std::uint64_t, Bytes> mapped_run(std::size_t s) {
    auto& own = model->spaces[s];
    if (own.pages.empty() || own.reserved.empty()) return {0, 0};
    auto page = pick(own.pages);
    const auto at = page->first;
    const auto reservation = own.reserved.upper_bound(at);
    if (reservation == own.reserved.begin()) return {0, 0};
    const auto [begin, pages] = *std::prev(reservation);
    const auto limit = std::min<Bytes>(1 + below(40), (begin + pages * kPageSize - at) / kPageSize);
    if (at >= begin + pages * kPageSize) return {0, 0};
    Bytes count = 0;
    while (count < limit && own.pages.count(at + count * kPageSize) != 0) ++count;
    return {at, count};
  }
  void set_access(std::size_t s) {
    const auto [at, count] = mapped_run(s);
    if (count == 0) return;
    const auto access = static_cast<Access>(below(3));
    ASSERT_THAT(space(s).set_access(DeviceAddress{at}, count * kPageSize, access), IsOk());
    for (Bytes i = 0; i < count; ++i) model->spaces[s].pages[at + i * kPageSize].access = access;
  }
  void unmap(std::size_t s) {
    const auto [at, count] = mapped_run(s);
    if (count == 0) return;
    ASSERT_THAT(space(s).unmap(DeviceAddress{at}, count * kPageSize), IsOk());
    model->unmap(s, at, count);
  }
  void expect_full(const Error& error) {
    ASSERT_EQ(error.code, ErrorCode::kOutOfMemory) << error.message();
    ++refused;
  }
  AddressSpace& space(std::size_t s) { return *model->spaces[s].space; }

  void one_round() {
    using Call = void (RandomSpaces::*)(std::size_t);
    static constexpr Call kCalls[] = {
        &RandomSpaces::allocate, &RandomSpaces::allocate,       &RandomSpaces::free,
        &RandomSpaces::create,   &RandomSpaces::release_memory, &RandomSpaces::import_memory,
        &RandomSpaces::reserve,  &RandomSpaces::release,        &RandomSpaces::map,
        &RandomSpaces::map,      &RandomSpaces::set_access,     &RandomSpaces::set_access,
        &RandomSpaces::unmap};
    const auto call = kCalls[below(std::size(kCalls))];
    if (model->memories.empty()) return create(0);
    (this->*call)(below(3));
  }

  test::FakePlatform fake;
  test::FakeCard* card = nullptr;
  std::unique_ptr<Device> device;
  std::unique_ptr<AddressSpace> others[2];
  std::unique_ptr<MemoryModel> model;
  std::mt19937 random{GetParam()};
  unsigned refused = 0;
};

TEST_P(RandomSpaces, LoseNothingLeakNothingAndMixNothingUp) {
  for (int round = 0; round < 2000; ++round) {
    ASSERT_NO_FATAL_FAILURE(one_round()) << "round " << round;
    ASSERT_NO_FATAL_FAILURE(model->check_sum()) << "round " << round;
    if (round % 50 != 49) continue;
    ASSERT_NO_FATAL_FAILURE(model->check_pages()) << "round " << round;
  }
  EXPECT_GT(device->compaction_statistics().moved, 0U) << "no compaction was tested";
  for (auto& other : others) ASSERT_THAT(other->close(), IsOk());
  auto& own = model->spaces[0];
  for (const auto& [at, pages] : own.plain) ASSERT_THAT(space(0).free({at}), IsOk());
  for (const auto& [at, pages] : own.reserved) {
    for (Bytes i = 0; i < pages; ++i) {
      if (own.pages.count(at + i * kPageSize) == 0) continue;
      ASSERT_THAT(space(0).unmap({at + i * kPageSize}, kPageSize), IsOk());
    }
    ASSERT_THAT(space(0).release({at}), IsOk());
  }
  for (auto& memory : model->memories) {
    if (memory.holders.count(0) == 0) continue;
    ASSERT_THAT(space(0).release_memory(memory.handle), IsOk());
  }
  const auto statistics = device->memory_statistics();
  EXPECT_EQ(statistics.largest_free_block, 6_GiB);
  EXPECT_EQ(statistics.allocations, 0U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSpaces, testing::Range(1U, 6U));

}  // namespace
}  // namespace npu::driver
