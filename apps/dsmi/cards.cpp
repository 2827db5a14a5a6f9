// SPDX-License-Identifier: Apache-2.0
// Which cards there are, and who they are.
#include <algorithm>
#include <cctype>
#include <string>

#include "apps/dsmi/call.hpp"
#include "apps/dsmi/text.hpp"
#include "npu/abi/pci.hpp"
#include "npu/abi/registers.hpp"

using namespace npu;
using namespace npu::dsmi;

extern "C" {

int dsmi_get_device_count(int* device_count) {
  if (device_count == nullptr) return DSMI_ERROR_PARAMETER;
  return in_session([&](Session& session) -> int {
    *device_count = static_cast<int>(session.count());
    return DSMI_OK;
  });
}

int dsmi_list_device(int device_id_list[], int count) {
  if (device_id_list == nullptr || count < 0) return DSMI_ERROR_PARAMETER;
  return in_session([&](Session& session) -> int {
    if (static_cast<std::size_t>(count) < session.count()) return DSMI_ERROR_PARAMETER;
    for (std::size_t i = 0; i < session.count(); ++i) device_id_list[i] = static_cast<int>(i);
    return DSMI_OK;
  });
}

int dsmi_get_chip_info(int device_id, struct dsmi_chip_info_stru* chip_info) {
  if (chip_info == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) {
    return give(card.management.identity(), [&](const driver::CardIdentity& who) {
      std::string name = who.chip;
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
      put_text(chip_info->chip_type, "Ascend");
      put_text(chip_info->chip_name, name);
      put_text(chip_info->chip_ver, "V" + std::to_string(who.revision));
    });
  });
}

int dsmi_get_board_info(int device_id, struct dsmi_board_info_stru* board_info) {
  if (board_info == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [](Session&, CardSession&) -> int { return DSMI_ERROR_NOT_SUPPORT; });
}

int dsmi_get_device_boot_status(int device_id, enum dsmi_boot_status* boot_status) {
  if (boot_status == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) -> int {
    if (card.access->read_config(abi::pci::kVendorId) == abi::pci::kAllOnes) {
      return DSMI_ERROR_INVALID_DEVICE;
    }
    const auto status = platform::read_register<abi::DeviceStatus>(card.access->registers());
    const bool answers = status.raw != ~0U;
    const bool ready = answers && status.get<abi::DeviceStatus::Ready>() != 0;
    *boot_status = ready ? DSMI_SYSTEM_START_FINISH : DSMI_BOOT_STATUS_BIOS;
    return DSMI_OK;
  });
}

int dsmi_get_pcie_info(int device_id, struct tag_pcie_idinfo* pcie_idinfo) {
  if (pcie_idinfo == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) {
    return give(card.management.identity(), [&](const driver::CardIdentity& who) {
      const auto bdf = card.access->bdf();
      *pcie_idinfo = {who.device,    who.vendor, who.subsystem_vendor,
                      who.subsystem, bdf.device, bdf.bus % platform::kBusesPerSegment,
                      bdf.function};
    });
  });
}

}  // extern "C"
