// SPDX-License-Identifier: Apache-2.0
// Every function with arguments at random. Structures lie in memory of their exact size, with marks
// behind it, so that whatever is written beyond is seen here, and by a sanitizer at once.
#include <functional>
#include <random>

#include "dsmi/dcmi_interface_api.h"
#include "tests/unit/dsmi/fake_managed_card.hpp"

namespace npu::dsmi {
namespace {

constexpr unsigned kRounds = 3000;

class Fuzz {
 public:
  explicit Fuzz(std::uint64_t seed) : random_(seed) {}

  std::uint64_t any() { return random_(); }
  bool one_in(unsigned n) { return random_() % n == 0; }
  int id() {
    constexpr int kIds[] = {0, 1, 0, 1, -1, 2, 64, 0x7FFFFFFF, static_cast<int>(0x80000000)};
    return kIds[random_() % std::size(kIds)];
  }
  int type() { return one_in(4) ? static_cast<int>(any()) : static_cast<int>(any() % 16); }
  // A T at random, or null.
  template <class T>
  T* some() {
    return one_in(6) ? nullptr : static_cast<T*>(buffer(sizeof(T)));
  }
  void* buffer(std::size_t size) {
    constexpr std::size_t kBehind = 16;
    blocks_.emplace_back(size + kBehind);
    auto& block = blocks_.back();
    for (auto& byte : block) byte = static_cast<unsigned char>(any());
    std::fill(block.end() - kBehind, block.end(), kMark);
    return block.data();
  }
  bool marks_are_there() {
    bool all = true;
    for (const auto& block : blocks_) {
      for (auto at = block.end() - 16; at != block.end(); ++at) all = all && *at == kMark;
    }
    blocks_.clear();
    return all;
  }

 private:
  static constexpr unsigned char kMark = 0xA5;
  std::mt19937_64 random_;
  std::vector<std::vector<unsigned char>> blocks_;
};

// Size and buffer agree; that is the caller's word.
int device_info(Fuzz& fuzz, bool set) {
  const auto room = static_cast<unsigned>(fuzz.one_in(3) ? 2008 : fuzz.any() % 600);
  auto* const data = fuzz.one_in(8) ? nullptr : fuzz.buffer(room);
  unsigned size = room;
  constexpr int kMain[] = {11, 13, 14, 50, 51, 52, 55, 0, 99};
  const auto main = static_cast<DSMI_MAIN_CMD>(kMain[fuzz.any() % std::size(kMain)]);
  const auto sub = static_cast<unsigned>(fuzz.type());
  const auto id = static_cast<unsigned>(fuzz.id());
  if (set) return dsmi_set_device_info(id, main, sub, data, size);
  const int code = dsmi_get_device_info(id, main, sub, data, fuzz.one_in(8) ? nullptr : &size);
  EXPECT_LE(size, room);
  return code;
}

int resource_info(Fuzz& fuzz) {
  const auto room = static_cast<unsigned>(fuzz.any() % 20);
  dsmi_resource_para para{static_cast<unsigned>(fuzz.any() % 4),
                          fuzz.one_in(2) ? 4711U : 1U,
                          static_cast<unsigned>(fuzz.any() % 12),
                          0,
                          {}};
  dsmi_resource_info info{room, fuzz.one_in(8) ? nullptr : fuzz.buffer(room), {}};
  return dsmi_get_resource_info(static_cast<unsigned>(fuzz.id()), &para, &info);
}

int list(Fuzz& fuzz) {
  const int room = static_cast<int>(fuzz.any() % 4);
  return dsmi_list_device(static_cast<int*>(fuzz.buffer(sizeof(int) * 4)), room - 1);
}

int text(Fuzz& fuzz) {
  const auto room = static_cast<int>(fuzz.any() % 40);
  constexpr unsigned kCodes[] = {DSMI_CODE_HBM_MULTI_BIT, DSMI_CODE_FAULT | 0x17, 0};
  auto* const to = static_cast<unsigned char*>(fuzz.buffer(static_cast<std::size_t>(room)));
  return dsmi_query_errorstring(fuzz.id(), kCodes[fuzz.any() % 3], fuzz.one_in(8) ? nullptr : to,
                                room);
}

using Target = std::function<int(Fuzz&)>;

std::vector<Target> dsmi_targets() {
  return {
      [](Fuzz& f) { return dsmi_get_device_count(f.some<int>()); },
      list,
      text,
      resource_info,
      [](Fuzz& f) { return device_info(f, false); },
      [](Fuzz& f) { return device_info(f, true); },
      [](Fuzz& f) { return dsmi_get_chip_info(f.id(), f.some<dsmi_chip_info_stru>()); },
      [](Fuzz& f) { return dsmi_get_board_info(f.id(), f.some<dsmi_board_info_stru>()); },
      [](Fuzz& f) { return dsmi_get_device_boot_status(f.id(), f.some<dsmi_boot_status>()); },
      [](Fuzz& f) { return dsmi_get_pcie_info(f.id(), f.some<tag_pcie_idinfo>()); },
      [](Fuzz& f) {
        return dsmi_get_device_utilization_rate(f.id(), f.type(), f.some<unsigned>());
      },
      [](Fuzz& f) { return dsmi_get_device_frequency(f.id(), f.type(), f.some<unsigned>()); },
      [](Fuzz& f) { return dsmi_get_aicore_info(f.id(), f.some<dsmi_aicore_info_stru>()); },
      [](Fuzz& f) { return dsmi_get_aicpu_info(f.id(), f.some<dsmi_aicpu_info_stru>()); },
      [](Fuzz& f) { return dsmi_get_hbm_info(f.id(), f.some<dsmi_hbm_info_stru>()); },
      [](Fuzz& f) { return dsmi_get_memory_info(f.id(), f.some<dsmi_memory_info_stru>()); },
      [](Fuzz& f) { return dsmi_get_device_cgroup_info(f.id(), f.some<tag_cgroup_info>()); },
      [](Fuzz& f) { return dsmi_get_device_temperature(f.id(), f.some<int>()); },
      [](Fuzz& f) { return dsmi_get_device_power_info(f.id(), f.some<dsmi_power_info_stru>()); },
      [](Fuzz& f) { return dsmi_get_device_voltage(f.id(), f.some<unsigned>()); },
      [](Fuzz& f) { return npu_dsmi_get_traffic(f.id(), f.some<npu_dsmi_traffic>()); },
      [](Fuzz& f) { return dsmi_get_device_health(f.id(), f.some<unsigned>()); },
      [](Fuzz& f) {
        auto* const codes = f.buffer(DSMI_ERROR_CODES_MAX * sizeof(unsigned));
        return dsmi_get_device_errorcode(f.id(), f.some<int>(), static_cast<unsigned*>(codes));
      },
      [](Fuzz& f) { return dsmi_get_ecc_info(f.id(), f.type(), f.some<dsmi_ecc_info_stru>()); },
      [](Fuzz& f) {
        return dsmi_get_total_ecc_isolated_pages_info(f.id(), f.type(),
                                                      f.some<dsmi_ecc_pages_stru>());
      },
      [](Fuzz& f) { return dsmi_clear_ecc_isolated_statistics_info(f.id(), f.type()); },
      [](Fuzz& f) {
        return dsmi_read_fault_event(f.id(), f.id() == 0 ? 0 : -1, {}, f.some<dsmi_event>());
      },
      [](Fuzz& f) {
        return dsmi_create_capability_group(f.id(), f.type(), f.some<dsmi_capability_group_info>());
      },
      [](Fuzz& f) { return dsmi_delete_capability_group(f.id(), f.type(), f.type()); },
      [](Fuzz& f) {
        return dsmi_get_capability_group_info(f.id(), f.type(), f.type(),
                                              f.some<dsmi_capability_group_info>(), 1);
      },
      [](Fuzz& f) {
        return dsmi_create_vdevice(static_cast<unsigned>(f.id()), static_cast<unsigned>(f.type()),
                                   f.some<dsmi_create_vdev_res_stru>(),
                                   f.some<dsmi_create_vdev_result>());
      },
      [](Fuzz& f) {
        return dsmi_destroy_vdevice(static_cast<unsigned>(f.id()), static_cast<unsigned>(f.type()));
      },
  };
}

int chip(Fuzz& fuzz) {
  return static_cast<int>(fuzz.any() % 3) - 1;
}

std::vector<Target> dcmi_targets() {
  return {
      [](Fuzz&) { return dcmi_init(); },
      [](Fuzz& f) {
        const auto room = static_cast<unsigned>(f.any() % DCMI_VERSION_MAX);
        return dcmi_get_dcmi_version(static_cast<char*>(f.buffer(room)), room);
      },
      [](Fuzz& f) {
        const auto room = static_cast<int>(f.any() % 4);
        auto* const ids = f.buffer(static_cast<std::size_t>(room) * sizeof(int));
        return dcmi_get_card_list(f.some<int>(), static_cast<int*>(ids), room);
      },
      [](Fuzz& f) { return dcmi_get_device_num_in_card(f.id(), f.some<int>()); },
      [](Fuzz& f) {
        return dcmi_get_device_id_in_card(f.id(), f.some<int>(), f.some<int>(), f.some<int>());
      },
      [](Fuzz& f) { return dcmi_get_device_type(f.id(), chip(f), f.some<dcmi_unit_type>()); },
      [](Fuzz& f) { return dcmi_get_device_logic_id(f.some<int>(), f.id(), chip(f)); },
      [](Fuzz& f) { return dcmi_get_device_chip_info(f.id(), chip(f), f.some<dcmi_chip_info>()); },
      [](Fuzz& f) {
        return dcmi_get_device_chip_info_v2(f.id(), chip(f), f.some<dcmi_chip_info_v2>());
      },
      [](Fuzz& f) {
        return dcmi_get_device_pcie_info_v2(f.id(), chip(f), f.some<dcmi_pcie_info_all>());
      },
      [](Fuzz& f) { return dcmi_get_device_health(f.id(), chip(f), f.some<unsigned>()); },
      [](Fuzz& f) {
        const auto room = static_cast<unsigned>(f.any() % 4);
        auto* const codes = f.buffer(room * sizeof(unsigned));
        return dcmi_get_device_errorcode_v2(f.id(), chip(f), f.some<int>(),
                                            static_cast<unsigned*>(codes), room);
      },
      [](Fuzz& f) {
        return dcmi_get_device_utilization_rate(f.id(), chip(f), f.type(), f.some<unsigned>());
      },
      [](Fuzz& f) {
        return dcmi_get_device_frequency(f.id(), chip(f), f.type(), f.some<unsigned>());
      },
      [](Fuzz& f) {
        return dcmi_get_device_aicore_info(f.id(), chip(f), f.some<dcmi_aicore_info>());
      },
      [](Fuzz& f) {
        return dcmi_get_device_aicpu_info(f.id(), chip(f), f.some<dcmi_aicpu_info>());
      },
      [](Fuzz& f) { return dcmi_get_device_hbm_info(f.id(), chip(f), f.some<dcmi_hbm_info>()); },
      [](Fuzz& f) {
        const auto type = static_cast<dcmi_device_type>(f.any() % 8);
        return dcmi_get_device_ecc_info(f.id(), chip(f), type, f.some<dcmi_ecc_info>());
      },
      [](Fuzz& f) { return dcmi_get_device_temperature(f.id(), chip(f), f.some<int>()); },
      [](Fuzz& f) { return dcmi_get_device_power_info(f.id(), chip(f), f.some<int>()); },
      [](Fuzz& f) { return dcmi_get_device_voltage(f.id(), chip(f), f.some<unsigned>()); },
      [](Fuzz& f) {
        auto* const list = f.buffer(DCMI_PROCESSES_MAX * sizeof(dcmi_proc_mem_info));
        return dcmi_get_device_resource_info(f.id(), chip(f),
                                             static_cast<dcmi_proc_mem_info*>(list), f.some<int>());
      },
      [](Fuzz& f) { return dcmi_set_destroy_vdevice(f.id(), chip(f), 7); },
  };
}

void run(const std::vector<Target>& targets, std::uint64_t seed) {
  Fuzz fuzz(seed);
  for (unsigned round = 0; round < kRounds; ++round) {
    const auto at = fuzz.any() % targets.size();
    targets[at](fuzz);
    ASSERT_TRUE(fuzz.marks_are_there()) << "function " << at << ", seed " << seed;
  }
}

class DsmiFuzz : public DsmiTest, public testing::WithParamInterface<std::uint64_t> {
 protected:
  // Registers that say anything at all.
  void spoil(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (Bytes at = 0; at < card.region.size(); at += 8) card.region.put(at, random());
  }
};

TEST_P(DsmiFuzz, NothingIsWrittenBeyondWhatWasGiven) {
  run(dsmi_targets(), GetParam());
  run(dcmi_targets(), GetParam());
}

TEST_P(DsmiFuzz, NorByACardWhoseRegistersMakeNoSense) {
  spoil(GetParam());
  run(dsmi_targets(), GetParam());
  run(dcmi_targets(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Seeds, DsmiFuzz, testing::Range(std::uint64_t{1}, std::uint64_t{6}));

}  // namespace
}  // namespace npu::dsmi
