// SPDX-License-Identifier: Apache-2.0
// DCMI: which cards there are, and who they are.
#include <cstring>

#include "apps/dsmi/dcmi_call.hpp"
#include "apps/dsmi/text.hpp"

using namespace npu::dsmi;

namespace {

int put_version(char* to, unsigned len, const char* text) {
  if (to == nullptr || len <= std::strlen(text)) return DCMI_ERR_CODE_INVALID_PARAMETER;
  put_text(to, len, text);
  return DCMI_OK;
}

int count_cards(int* count) {
  return dcmi_code(dsmi_get_device_count(count));
}

// Codes of a card that there must be.
int check_card(int card) {
  int count = 0;
  const int code = count_cards(&count);
  if (code != DCMI_OK) return code;
  return card >= 0 && card < count ? DCMI_OK : DCMI_ERR_CODE_INVALID_DEVICE_ID;
}

int chip_of(int card, int device, dsmi_chip_info_stru& chip, unsigned& cores) {
  return on_chip(card, device, [&](int id) {
    const int code = dsmi_get_chip_info(id, &chip);
    if (code != DSMI_OK) return code;
    dsmi_domain_info domain{};
    unsigned size = sizeof domain;
    const int told =
        dsmi_get_device_info(static_cast<unsigned>(id), DSMI_MAIN_CMD_SOC_INFO, 0, &domain, &size);
    cores = static_cast<unsigned>(domain.ai_core_num);
    return told;
  });
}

template <class Info>
void put_chip(const dsmi_chip_info_stru& chip, unsigned cores, Info& info) {
  std::memcpy(info.chip_type, chip.chip_type, sizeof chip.chip_type);
  std::memcpy(info.chip_name, chip.chip_name, sizeof chip.chip_name);
  std::memcpy(info.chip_ver, chip.chip_ver, sizeof chip.chip_ver);
  info.aicore_cnt = cores;
}

}  // namespace

extern "C" {

int dcmi_init(void) {
  int count = 0;
  return count_cards(&count);
}

int dcmi_get_dcmi_version(char* dcmi_version, unsigned int len) {
  return put_version(dcmi_version, len, "npusim " NPU_VERSION);
}

int dcmi_get_driver_version(char* driver_version, unsigned int len) {
  return put_version(driver_version, len, "libnpudrv " NPU_VERSION);
}

int dcmi_get_card_list(int* card_num, int* card_list, int list_len) {
  if (card_num == nullptr || card_list == nullptr || list_len < 0) {
    return DCMI_ERR_CODE_INVALID_PARAMETER;
  }
  int count = 0;
  const int code = count_cards(&count);
  if (code != DCMI_OK) return code;
  const int listed = dcmi_code(dsmi_list_device(card_list, list_len));
  if (listed == DCMI_OK) *card_num = count;
  return listed;
}

int dcmi_get_card_num_list(int* card_num, int* card_list, int list_len) {
  return dcmi_get_card_list(card_num, card_list, list_len);
}

int dcmi_get_device_num_in_card(int card_id, int* device_num) {
  if (device_num == nullptr) return DCMI_ERR_CODE_INVALID_PARAMETER;
  const int code = check_card(card_id);
  if (code == DCMI_OK) *device_num = 1;
  return code;
}

int dcmi_get_device_id_in_card(int card_id, int* device_id_max, int* mcu_id, int* cpu_id) {
  if (device_id_max == nullptr || mcu_id == nullptr || cpu_id == nullptr) {
    return DCMI_ERR_CODE_INVALID_PARAMETER;
  }
  const int code = check_card(card_id);
  if (code != DCMI_OK) return code;
  *device_id_max = 1;
  *mcu_id = -1;
  *cpu_id = -1;
  return DCMI_OK;
}

int dcmi_get_device_type(int card_id, int device_id, enum dcmi_unit_type* device_type) {
  if (device_type == nullptr) return DCMI_ERR_CODE_INVALID_PARAMETER;
  const int code = device_id == 0 ? check_card(card_id) : DCMI_ERR_CODE_INVALID_DEVICE_ID;
  if (code == DCMI_OK) *device_type = NPU_TYPE;
  return code;
}

int dcmi_get_device_logic_id(int* device_logic_id, int card_id, int device_id) {
  if (device_logic_id == nullptr) return DCMI_ERR_CODE_INVALID_PARAMETER;
  const int code = device_id == 0 ? check_card(card_id) : DCMI_ERR_CODE_INVALID_DEVICE_ID;
  if (code == DCMI_OK) *device_logic_id = card_id;
  return code;
}

int dcmi_get_device_chip_info(int card_id, int device_id, struct dcmi_chip_info* chip_info) {
  if (chip_info == nullptr) return DCMI_ERR_CODE_INVALID_PARAMETER;
  dsmi_chip_info_stru chip{};
  unsigned cores = 0;
  const int code = chip_of(card_id, device_id, chip, cores);
  if (code == DCMI_OK) put_chip(chip, cores, *chip_info);
  return code;
}

int dcmi_get_device_chip_info_v2(int card_id, int device_id, struct dcmi_chip_info_v2* chip_info) {
  if (chip_info == nullptr) return DCMI_ERR_CODE_INVALID_PARAMETER;
  dsmi_chip_info_stru chip{};
  unsigned cores = 0;
  const int code = chip_of(card_id, device_id, chip, cores);
  if (code != DCMI_OK) return code;
  put_chip(chip, cores, *chip_info);
  std::memcpy(chip_info->npu_name, chip.chip_name, sizeof chip.chip_name);
  return DCMI_OK;
}

int dcmi_get_device_pcie_info_v2(int card_id, int device_id, struct dcmi_pcie_info_all* pcie_info) {
  if (pcie_info == nullptr) return DCMI_ERR_CODE_INVALID_PARAMETER;
  tag_pcie_idinfo ids{};
  const int code =
      on_chip(card_id, device_id, [&](int id) { return dsmi_get_pcie_info(id, &ids); });
  if (code != DCMI_OK) return code;
  *pcie_info = {};
  pcie_info->venderid = ids.venderid;
  pcie_info->subvenderid = ids.subvenderid;
  pcie_info->deviceid = ids.deviceid;
  pcie_info->subdeviceid = ids.subdeviceid;
  pcie_info->bdf_busid = ids.bdf_busid;
  pcie_info->bdf_deviceid = ids.bdf_deviceid;
  pcie_info->bdf_funcid = ids.bdf_funcid;
  return DCMI_OK;
}

}  // extern "C"
