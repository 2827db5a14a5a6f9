/* SPDX-License-Identifier: Apache-2.0 */
/* token WAY VALUE [KEEP]: sets the card's computing token by dsmi, dcmi or hal, reads it back by
   each of them, and times kernels before and with it; then the whole token again, unless it is to
   be kept. */
#include <acl/npusim_kernels.h>
#include <ascend_hal.h>
#include <math.h>
#include <string.h>

#include "check.h"

static void set(const char* way, float value) {
  const struct dsmi_computing_token_stru token = {value, COMPUTING_TOKEN_LAD0TKEN01, 0, 0};
  if (strcmp(way, "dcmi") == 0) {
    OK(dcmi_set_device_info(0, 0, DCMI_MAIN_CMD_EX_COMPUTING, DCMI_EX_COMPUTING_SUB_CMD_TOKEN,
                            &token, sizeof token));
  } else if (strcmp(way, "hal") == 0) {
    int64_t image;
    memcpy(&image, &token, sizeof image);
    OK(halSetDeviceInfo(0, MODULE_TYPE_COMPUTING, INFO_TYPE_COMPUTING_TOKEN, image));
  } else {
    OK(dsmi_set_device_info(0, DSMI_MAIN_CMD_EX_COMPUTING, DSMI_EX_COMPUTING_SUB_CMD_TOKEN, &token,
                            sizeof token));
  }
}

static float get(void) {
  struct dsmi_computing_token_stru by_dsmi, by_dcmi, by_hal;
  unsigned size = sizeof by_dsmi;
  int64_t image = 0;
  OK(dsmi_get_device_info(0, DSMI_MAIN_CMD_EX_COMPUTING, 0, &by_dsmi, &size));
  REQUIRE(size == sizeof by_dsmi);
  OK(dcmi_get_device_info(0, 0, DCMI_MAIN_CMD_EX_COMPUTING, 0, &by_dcmi, &size));
  OK(halGetDeviceInfo(0, MODULE_TYPE_COMPUTING, INFO_TYPE_COMPUTING_TOKEN, &image));
  memcpy(&by_hal, &image, sizeof by_hal);
  REQUIRE(by_dsmi.value == by_dcmi.value && by_dsmi.value == by_hal.value && by_dsmi.type == 1);
  return by_dsmi.value;
}

static void launch(aclrtFuncHandle spin, int times) {
  const npusim_spin_args args = {20000};
  int64_t cores = 0;
  OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores));
  for (int i = 0; i < times; ++i) {
    OK(aclrtLaunchKernel(spin, (uint32_t)cores, &args, sizeof args, NULL));
  }
  OK(aclrtSynchronizeStream(NULL));
}

/* Kernels on all vector cores; the percent of the time that these work, once what was set holds. */
static unsigned measure(aclrtFuncHandle spin) {
  unsigned share = 0;
  launch(spin, 300);
  OK(dsmi_get_device_utilization_rate(0, DSMI_UTILIZATION_VECTOR, &share));
  launch(spin, 1000);
  OK(dsmi_get_device_utilization_rate(0, DSMI_UTILIZATION_VECTOR, &share));
  return share;
}

static void misuse(void) {
  struct dsmi_computing_token_stru token = {0, 1, 0, 0};
  const float bad[] = {-1.0f, 65536.0f, NAN, INFINITY};
  unsigned size = sizeof token - 1;
  int64_t image = 0;
  EXPECT(DSMI_ERROR_PARAMETER,
         dsmi_get_device_info(0, DSMI_MAIN_CMD_EX_COMPUTING, 0, &token, &size));
  EXPECT(DSMI_ERROR_PARAMETER, dsmi_set_device_info(0, DSMI_MAIN_CMD_EX_COMPUTING, 0, &token, 7));
  EXPECT(DSMI_ERROR_NOT_SUPPORT,
         dsmi_set_device_info(0, DSMI_MAIN_CMD_EX_COMPUTING, 1, &token, sizeof token));
  for (int i = 0; i < 4; ++i) {
    token.value = bad[i];
    EXPECT(DSMI_ERROR_PARAMETER,
           dsmi_set_device_info(0, DSMI_MAIN_CMD_EX_COMPUTING, 0, &token, sizeof token));
    EXPECT(DRV_ERROR_INVALID_VALUE,
           halSetDeviceInfoByBuff(0, MODULE_TYPE_COMPUTING, 0, &token, sizeof token));
  }
  token.value = 1;
  token.type = COMPUTING_TOKEN_TYPE_INVALID;
  EXPECT(DSMI_ERROR_PARAMETER,
         dsmi_set_device_info(0, DSMI_MAIN_CMD_EX_COMPUTING, 0, &token, sizeof token));
  EXPECT(DSMI_ERROR_INVALID_DEVICE,
         dsmi_set_device_info(7, DSMI_MAIN_CMD_EX_COMPUTING, 0, &token, sizeof token));
  EXPECT(DRV_ERROR_INVALID_DEVICE, halGetDeviceInfo(7, MODULE_TYPE_COMPUTING, 0, &image));
  EXPECT(DRV_ERROR_NOT_SUPPORT, halSetDeviceInfo(0, MODULE_TYPE_AICORE, 0, 0));
}

int main(int argc, char** argv) {
  const float value = argc > 2 ? (float)atof(argv[2]) : 65535;
  const float had = get();
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle spin = NULL;
  REQUIRE(argc > 2);
  OK(aclInit(NULL));
  OK(aclrtSetDevice(0));
  misuse();
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, NULL, &binary));
  OK(aclrtBinaryGetFunction(binary, "spin", &spin));
  printf("before %u\n", measure(spin));
  set(argv[1], value);
  REQUIRE(get() == (value < had ? value : had));
  printf("share %u\n", measure(spin));
  if (argc <= 3) {
    set(argv[1], 65535);
    REQUIRE(get() == had);
    printf("again %u\n", measure(spin));
  }
  return end_right();
}
