// SPDX-License-Identifier: Apache-2.0
// Health, error codes, errors of the memory.
#include "apps/dsmi/call.hpp"
#include "apps/dsmi/fault_codes.hpp"
#include "apps/dsmi/text.hpp"

using namespace npu;
using namespace npu::dsmi;

extern "C" {

int dsmi_get_device_health(int device_id, unsigned int* health) {
  if (health == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) {
    return give(card.management.health(),
                [&](abi::Severity worst) { *health = static_cast<unsigned>(worst); });
  });
}

int dsmi_get_device_errorcode(int device_id, int* errorcount, unsigned int* errorcode) {
  if (errorcount == nullptr || errorcode == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) {
    return give(card.management.alarms(), [&](const driver::Alarms& alarms) {
      int count = 0;
      if (alarms.single) errorcode[count++] = DSMI_CODE_HBM_SINGLE_BIT;
      if (alarms.multi) errorcode[count++] = DSMI_CODE_HBM_MULTI_BIT;
      if (alarms.temperature) errorcode[count++] = DSMI_CODE_TEMPERATURE;
      *errorcount = count;
    });
  });
}

int dsmi_query_errorstring(int device_id, unsigned int errorcode, unsigned char* errorinfo,
                           int buffsize) {
  if (errorinfo == nullptr || buffsize < 1) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession&) -> int {
    const auto text = text_of_code(errorcode);
    if (text.empty()) return DSMI_ERROR_NOT_EXIST;
    put_text(reinterpret_cast<char*>(errorinfo), static_cast<std::size_t>(buffsize), text);
    return DSMI_OK;
  });
}

int dsmi_get_ecc_info(int device_id, int device_type, struct dsmi_ecc_info_stru* ecc_info) {
  if (ecc_info == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) -> int {
    const auto errors = card.management.memory_errors();
    if (!errors) return code_of(errors.error());
    switch (device_type) {
      case DSMI_DEVICE_TYPE_HBM:
        *ecc_info = {1, errors->since_reset.single, errors->since_reset.multi};
        return DSMI_OK;
      case DSMI_HBM_RECORDED_SINGLE_ADDR:
        *ecc_info = {1, errors->recorded.single, 0};
        return DSMI_OK;
      case DSMI_HBM_RECORDED_MULTI_ADDR:
        *ecc_info = {1, 0, errors->recorded.multi};
        return DSMI_OK;
      default:
        return DSMI_ERROR_NOT_SUPPORT;
    }
  });
}

int dsmi_get_total_ecc_isolated_pages_info(int device_id, int module_type,
                                           struct dsmi_ecc_pages_stru* pages) {
  if (pages == nullptr) return DSMI_ERROR_PARAMETER;
  return on_card(device_id, [&](Session&, CardSession& card) -> int {
    if (module_type != DSMI_DEVICE_TYPE_HBM) return DSMI_ERROR_NOT_SUPPORT;
    return give(card.management.memory_errors(), [&](const driver::MemoryErrors& errors) {
      *pages = {errors.recorded.single, errors.recorded.multi, errors.isolated.single,
                errors.isolated.multi};
    });
  });
}

int dsmi_clear_ecc_isolated_statistics_info(int device_id, int module_type) {
  return on_card(device_id, [&](Session&, CardSession& card) -> int {
    if (module_type != DSMI_DEVICE_TYPE_HBM) return DSMI_ERROR_NOT_SUPPORT;
    return give(card.management.clear_error_record());
  });
}

}  // extern "C"
